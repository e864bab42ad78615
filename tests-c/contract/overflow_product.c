/* A product of count and size that overflows is refused with ENOMEM, and reallocarray leaves the block as it was. */
//@ modes=system,preload,static,full,dlopen rows=A03,S06
#include "test.h"

int main(void) {
  static const size_t products[][2] = {
      {SIZE_MAX, 2},       {2, SIZE_MAX},           {SIZE_MAX, SIZE_MAX},      {(size_t)1 << 32, (size_t)1 << 32},
      {SIZE_MAX / 2, 3},   {SIZE_MAX / 16 + 1, 16}, {16, SIZE_MAX / 16 + 1},   {(size_t)1 << 63, 2},
      {SIZE_MAX / 2 + 1, 2}, {PTRDIFF_MAX, 2},      {((size_t)1 << 33) + 1, (size_t)1 << 31}, {SIZE_MAX / 3 + 1, 3},
  };
  char *block = malloc(500);
  CHECK(block != NULL);
  stamp(block, 500, 9);
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
    size_t count = products[i][0], size = products[i][1];
    errno = 0;
    if (calloc(count, size) != NULL) fail("calloc(%#zx, %#zx) succeeded", count, size);
    CHECK_EQ(errno, ENOMEM);
    errno = 0;
    if (reallocarray(block, count, size) != NULL) fail("reallocarray(%#zx, %#zx) succeeded", count, size);
    CHECK_EQ(errno, ENOMEM);
    CHECK(holds(block, 500, 9));
  }
  block = reallocarray(block, 100, 50);
  CHECK(block != NULL && holds(block, 500, 9));
  CHECK_AT_LEAST(malloc_usable_size(block), 5000);
  free(block);
  return 0;
}
