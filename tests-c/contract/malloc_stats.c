/* malloc_stats writes a report to stderr and nothing to stdout. */
//@ modes=system,preload,static,full rows=M06 stderr="[0-9]"
#include "test.h"

int main(void) {
  void *block = malloc(100);
  malloc_stats();
  free(block);
  fflush(stdout);
  CHECK_EQ(lseek(1, 0, SEEK_END), 0);
  return 0;
}
