/* calloc returns zeroes whatever lay in the memory before: reused, purged, grown or fresh. */
//@ modes=system,preload,static,full,dlopen rows=A02
#include "test.h"

enum { COUNT = 64 };

int main(void) {
  static size_t sizes[2048];
  static char *blocks[COUNT];
  size_t count = edge_sizes(sizes, 2048, 2 * MIB);
  for (size_t i = 0; i < count; i++) {
    size_t size = sizes[i], together = size > 64 * KIB ? 4 : COUNT;
    for (int round = 0; round < 3; round++) {
      for (size_t b = 0; b < together; b++) {
        blocks[b] = round == 0 ? malloc(size) : calloc(b % 2 ? 1 : size, b % 2 ? size : 1);
        CHECK(blocks[b] != NULL);
        if (round > 0 && !is_zero(blocks[b], size)) fail("calloc of %zu bytes is dirty in round %d", size, round);
        memset(blocks[b], 0xa5, malloc_usable_size(blocks[b]));
      }
      for (size_t b = 0; b < together; b++) free(blocks[b]);
      if (round == 1) malloc_trim(0);
    }
  }
  return 0;
}
