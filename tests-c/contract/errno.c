/* Releasing memory never changes errno, in any size, also when it goes back to the kernel. */
//@ modes=system,preload,static,full,dlopen rows=A01
#include "test.h"

int main(void) {
  enum { COUNT = 200 };
  static void *blocks[COUNT];
  static const size_t sizes[] = {0, 8, 100, 1024, 5000, 40000, 300000, 3 * MIB, 40 * MIB};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    size_t together = sizes[s] > MIB ? 4 : COUNT;
    for (size_t i = 0; i < together; i++) {
      blocks[i] = malloc(sizes[s]);
      CHECK(blocks[i] != NULL);
      stamp(blocks[i], sizes[s] < 64 ? sizes[s] : 64, i);
    }
    for (size_t i = 0; i < together; i++) {
      errno = 1000 + (int)i;
      if (i % 2 && is_hakmem())
        free_sized(blocks[i], sizes[s]);
      else
        free(blocks[i]);
      CHECK_EQ(errno, 1000 + (int)i);
    }
  }
  errno = 5;
  CHECK_EQ(malloc_usable_size(NULL), 0);
  CHECK_EQ(errno, 5);
  return 0;
}
