/* The usable size covers the request, does not change, may be written in full, and survives realloc to it. */
//@ modes=system,preload,static,full,dlopen rows=H07
#include "test.h"

int main(void) {
  static size_t sizes[4096];
  static void *blocks[4096];
  size_t count = edge_sizes(sizes, 4096, MIB);
  for (size_t i = 0; i < count; i++) {
    blocks[i] = malloc(sizes[i]);
    CHECK(blocks[i] != NULL);
    CHECK_AT_LEAST(malloc_usable_size(blocks[i]), sizes[i] > 0 ? sizes[i] : 1);
    stamp(blocks[i], malloc_usable_size(blocks[i]), i);
  }
  for (size_t i = 0; i < count; i++) {
    size_t usable = malloc_usable_size(blocks[i]);
    if (!holds(blocks[i], usable, i)) fail("the %zu usable bytes of a block of %zu are shared", usable, sizes[i]);
    blocks[i] = realloc(blocks[i], usable);
    CHECK(blocks[i] != NULL && holds(blocks[i], usable, i));
    CHECK_AT_LEAST(malloc_usable_size(blocks[i]), usable);
  }
  for (size_t i = 0; i < count; i++) free(blocks[i]);
  return 0;
}
