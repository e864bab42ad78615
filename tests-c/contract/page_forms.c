/* valloc gives a page boundary; pvalloc gives whole pages as well. */
//@ modes=system,preload,static,full,dlopen rows=S06
#include "test.h"

int main(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  static const size_t sizes[] = {0, 1, 100, 4095, 4096, 4097, 8192, 100000, 3000000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char *block = valloc(sizes[i]);
    CHECK(block != NULL && is_aligned(block, page));
    stamp(block, sizes[i], i);
    CHECK(holds(block, sizes[i], i));
    free(block);
    size_t whole = (sizes[i] + page - 1) / page * page;
    block = pvalloc(sizes[i]);
    CHECK(block != NULL && is_aligned(block, page));
    CHECK_AT_LEAST(malloc_usable_size(block), whole);
    stamp(block, whole, i);
    CHECK(holds(block, whole, i));
    free(block);
  }
  return 0;
}
