/* The sized forms of C23 release any block, over-aligned ones included, when told the true size. */
//@ modes=preload,static,full,dlopen rows=A07,G05
#include "test.h"

int main(void) {
  enum { COUNT = 200 };
  static void *blocks[COUNT];
  static const size_t alignments[] = {16, 64, 4096, 16 * KIB, 64 * KIB, 2 * MIB};
  static const size_t sizes[] = {0, 1, 8, 100, 1024, 5000, 300000, 3 * MIB};
  for (size_t a = 0; a < sizeof alignments / sizeof alignments[0]; a++)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      int together = sizes[s] > 100000 || alignments[a] > MIB ? 8 : COUNT;
      for (int i = 0; i < together; i++) {
        CHECK((blocks[i] = aligned_alloc(alignments[a], sizes[s])) != NULL);
        CHECK(is_aligned(blocks[i], alignments[a]));
        stamp(blocks[i], sizes[s], i);
      }
      for (int i = 0; i < together; i++) {
        CHECK(holds(blocks[i], sizes[s], i));
        free_aligned_sized(blocks[i], alignments[a], sizes[s]);
      }
    }
  for (size_t size = 0; size < 3000; size++) {
    free_sized(malloc(size), size);
    free_sized(calloc(1, size), size);
    free_sized(realloc(NULL, size), size);
  }
  /* The blocks really came back: a million more fit in no more memory. */
  long before = rss_kib();
  for (int i = 0; i < 1000000; i++) free_sized(keep(malloc(200)), 200);
  CHECK_AT_MOST(rss_kib() - before, 1024);
  return 0;
}
