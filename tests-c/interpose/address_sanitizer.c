/* A program built with AddressSanitizer refuses a preload by itself; told not to, it has two heaps, and the first block
 * that crosses is refused by name. */
//@ modes=preload rows=I06 flags="-fsanitize=address" timeout=60
//@ case refuses exit=1 stderr="ASan runtime does not come first in initial library list"
//@ case insists env="ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0" signal=ABRT stderr="^hakmem: invalid free: pointer 0x[0-9a-f]+ is not a block of hakmem"
#include "test.h"

int main(void) {
  for (size_t size = 1; size < 10 * MIB; size = size * 2 + 1) {
    char *block = malloc(size);
    CHECK(block != NULL);
    stamp(block, size, 1);
    block = realloc(block, size * 2);
    CHECK(holds(block, size, 1));
    free(block);
  }
  char *text = strdup("end");
  puts(text);
  free(text);
  return 0;
}
