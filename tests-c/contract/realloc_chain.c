/* realloc keeps the contents across every boundary on the way to 1 GiB and back. */
//@ modes=system,preload,static rows=A11,R09 need=ram4 tags=alone
#include "test.h"

/* One word on every 512 bytes: any page lost, swapped or moved to the wrong place shows. */
static void mark(char *block, size_t from, size_t to) {
  for (size_t at = from & ~(size_t)511; at + 8 <= to; at += 512) *(uint64_t *)(void *)(block + at) = at ^ 0x5bd1e995;
}

static void verify(const char *block, size_t size) {
  for (size_t at = 0; at + 8 <= size; at += 512)
    if (*(const uint64_t *)(const void *)(block + at) != (at ^ 0x5bd1e995)) fail("lost at %zu of %zu bytes", at, size);
}

static void chain(const size_t *sizes, size_t count) {
  char *block = NULL;
  size_t had = 0;
  for (size_t i = 0; i < count; i++) {
    block = realloc(block, sizes[i]);
    if (block == NULL) fail("realloc to %zu bytes refused", sizes[i]);
    verify(block, had < sizes[i] ? had : sizes[i]);
    mark(block, had < sizes[i] ? had : 0, sizes[i]);
    had = sizes[i];
  }
  free(block);
}

int main(void) {
  static size_t sizes[4096], mixed[4096];
  size_t count = edge_sizes(sizes + 1, 2000, 8 * MIB), up;
  sizes[0] = 1;
  count++;
  sizes[1] = 1; /* edge_sizes starts at 0, and realloc to 0 would free */
  for (size_t size = 8 * MIB; size <= GIB; size *= 2) {
    sizes[count++] = size - 1;
    sizes[count++] = size + 1;
    if (size < GIB) sizes[count++] = size + size / 2;
  }
  up = count;
  for (size_t i = 0; i < up && count < 4096; i++) sizes[count++] = sizes[up - 1 - i];
  chain(sizes, count);
  uint64_t state = 7;
  for (size_t i = 0; i < 4096; i++) mixed[i] = 1 + next_random(&state) % ((size_t)1 << (4 + next_random(&state) % 19));
  chain(mixed, 4096);
  return 0;
}
