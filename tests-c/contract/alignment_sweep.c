/* Any power of two up to 1 GiB is honoured for any size, and the block can be measured, grown and freed. */
//@ modes=system,preload,static,full,dlopen rows=A04,A07
#include "test.h"

static void *aligned(int form, size_t alignment, size_t size) {
  void *block = NULL;
  if (form == 0) return memalign(alignment, size);
  if (form == 1) return aligned_alloc(alignment, size);
  if (alignment < sizeof(void *)) alignment = sizeof(void *);
  return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static void check(int form, size_t alignment, size_t size) {
  char *block = aligned(form, alignment, size);
  if (block == NULL) fail("form %d: %zu bytes at %zu refused", form, size, alignment);
  if (!is_aligned(block, alignment) || !is_aligned(block, size >= 16 ? 16 : 8))
    fail("form %d: %zu bytes at %zu gave %p", form, size, alignment, (void *)block);
  CHECK_AT_LEAST(malloc_usable_size(block), size);
  size_t head = size < 4096 ? size : 4096;
  stamp(block, head, alignment);
  if (size > 0) block[size - 1] = block[size - 1];
  size_t bigger = size + size / 2 + 1;
  block = realloc(block, bigger);
  CHECK(block != NULL && holds(block, head, alignment));
  block[bigger - 1] = 1;
  free(block);
}

int main(void) {
  for (int form = 0; form < 3; form++)
    for (size_t alignment = 1; alignment <= GIB; alignment *= 2) {
      static const size_t small[] = {0, 1, 7, 8, 15, 16, 17, 24, 40, 100, 1000, 5000, 70000};
      for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) check(form, alignment, small[i]);
      if (alignment <= 64 * MIB)
        for (size_t quarter = 1; quarter <= 16; quarter += 3) check(form, alignment, alignment / 4 * quarter);
    }
  /* Many at once: they must not overlap, whatever is cut off in front of them. */
  enum { COUNT = 200 };
  static char *blocks[COUNT];
  for (int i = 0; i < COUNT; i++) {
    size_t alignment = (size_t)16 << i % 17;
    blocks[i] = memalign(alignment, 8 + i);
    CHECK(blocks[i] != NULL && is_aligned(blocks[i], alignment));
    stamp(blocks[i], 8 + i, i);
  }
  for (int i = 0; i < COUNT; i++) CHECK(holds(blocks[i], 8 + i, i));
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  return 0;
}
