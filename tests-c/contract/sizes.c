/* Every entry point serves every size around every class edge: aligned, wholly writable, distinct from its neighbours. */
//@ modes=system,preload,static,full,dlopen rows=A03,A04
#include "entries.h"

int main(void) {
  static size_t sizes[4096];
  size_t count = edge_sizes(sizes, 4096, MIB + MIB / 4);
  for (int e = 0; e < ENTRIES; e++) {
    void *before = NULL;
    size_t before_size = 0;
    for (size_t i = 0; i < count; i++) {
      void *block = entries[e].allocate(sizes[i]);
      if (block == NULL) fail("%s: %zu bytes refused", entries[e].name, sizes[i]);
      if (!is_aligned(block, entries[e].alignment)) fail("%s: %zu bytes at %p", entries[e].name, sizes[i], block);
      CHECK_AT_LEAST(malloc_usable_size(block), sizes[i]);
      stamp(block, sizes[i], i);
      if (before != NULL && !holds(before, before_size, i - 1))
        fail("%s: writing %zu bytes changed the block before it", entries[e].name, sizes[i]);
      free(before);
      before = block;
      before_size = sizes[i];
    }
    free(before);
  }
  return 0;
}
