/* malloc_trim gives free memory back to the kernel at once and says so. */
//@ modes=system,preload,static,full,dlopen rows=R04 tags=alone
#include "test.h"

int main(void) {
  enum { COUNT = 200000 };
  static void *blocks[COUNT];
  long before = rss_kib();
  for (int i = 0; i < COUNT; i++) {
    CHECK((blocks[i] = malloc(800)) != NULL);
    memset(blocks[i], 1, 800);
  }
  CHECK_AT_LEAST(rss_kib() - before, 150000);
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  malloc_trim(0);
  CHECK_AT_MOST(rss_kib() - before, 8 * 1024);
  CHECK_EQ(malloc_trim(0), 0); /* nothing was left */
  return 0;
}
