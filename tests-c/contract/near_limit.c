/* A request beyond PTRDIFF_MAX is refused with ENOMEM by every entry point, however rounding might wrap around. */
//@ modes=system,preload,static,full,dlopen rows=A03,S06
#include "entries.h"

static void refused(int e, size_t size) {
  errno = 0;
  void *block = entries[e].allocate(size);
  if (block != NULL) fail("%s: %#zx bytes gave %p", entries[e].name, size, block);
  if (errno != ENOMEM) fail("%s: %#zx bytes: errno is %d, not ENOMEM", entries[e].name, size, errno);
}

/* Below the limit the machine decides; a yes must be a block that holds its first and last byte. */
static void honest(int e, size_t size) {
  errno = 0;
  unsigned char *block = entries[e].allocate(size);
  if (block == NULL) {
    if (errno != ENOMEM) fail("%s: %#zx bytes: errno is %d, not ENOMEM", entries[e].name, size, errno);
    return;
  }
  CHECK_AT_LEAST(malloc_usable_size(block), size);
  block[0] = 1;
  block[size - 1] = 2;
  CHECK_EQ(block[0], 1);
  free(block);
}

int main(void) {
  for (int e = 0; e < ENTRIES; e++) {
    for (size_t back = 0; back < 64 * KIB; back++) refused(e, SIZE_MAX - back);
    for (size_t over = 1; over < 64 * KIB; over += 7) refused(e, (size_t)PTRDIFF_MAX + over);
    for (size_t under = 0; under < 64 * KIB; under += 7) refused(e, (size_t)PTRDIFF_MAX - under);
    for (int bit = 31; bit < 63; bit++)
      for (long near = -1; near <= 1; near++) honest(e, ((size_t)1 << bit) + (size_t)near);
  }
  return 0;
}
