/* NULL is a valid argument of everything that takes a block. */
//@ modes=system,preload,static,full,dlopen rows=I01,S06
#include "test.h"

int main(void) {
  errno = 77;
  free(NULL);
  CHECK_EQ(malloc_usable_size(NULL), 0);
  CHECK_EQ(errno, 77);
  void *block = realloc(NULL, 40);
  CHECK(block != NULL);
  stamp(block, 40, 3);
  free(block);
  block = realloc(NULL, 0);
  CHECK(block != NULL);
  free(block);
  if (is_hakmem()) {
    free_sized(NULL, 0);
    free_sized(NULL, 100);
    free_aligned_sized(NULL, 64, 0);
    free_aligned_sized(NULL, 4096, 100);
  }
  return 0;
}
