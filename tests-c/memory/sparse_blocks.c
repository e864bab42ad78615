/* Blocks that are not touched, or only on one page, cost no more than that page. */
//@ modes=system,preload,static,dlopen rows=R05,S08,R10 tags=alone
//@ case untouched_1m args="untouched"
//@ case one_page_of_40k args="one_page"
#include "test.h"

enum { COUNT = 100000 };
static char *blocks[COUNT];

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  memset(blocks, 0, sizeof blocks);
  long before = rss_kib();
  if (strcmp(arguments[1], "untouched") == 0) {
    for (int i = 0; i < 3000; i++) CHECK((blocks[i] = malloc(MIB)) != NULL);
    dprintf(2, "resident %ld KiB\n", rss_kib() - before);
    CHECK_AT_MOST(rss_kib() - before, 14 * 1024);
  } else {
    for (int i = 0; i < COUNT; i++) {
      CHECK((blocks[i] = malloc(40 * KIB)) != NULL);
      blocks[i][0] = 1;
    }
    dprintf(2, "resident %ld KiB\n", rss_kib() - before);
    CHECK_AT_MOST(rss_kib() - before, 420 * 1024);
  }
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  return 0;
}
