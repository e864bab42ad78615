/* mallopt(M_TRIM_THRESHOLD) says how much free memory stays resident: at most that, and half of it at least. */
//@ modes=preload,static
//@ case default args="131072 6000 0"
//@ case some args="16777216 20000 7500"
//@ case all args="-1 100000 45000"
#include "test.h"

enum { COUNT = 100000, SIZE = 500 };
static char *blocks[COUNT];

int main(int count, char **arguments) {
  CHECK_EQ(count, 4);
  memset(blocks, 0, sizeof blocks);
  long before = rss_kib();
  CHECK_EQ(mallopt(M_TRIM_THRESHOLD, atoi(arguments[1])), 1);
  for (int i = 0; i < COUNT; i++) memset(blocks[i] = malloc(SIZE), 1, SIZE);
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  long kept = rss_kib() - before;
  CHECK_AT_MOST(kept, atol(arguments[2]));
  CHECK_AT_LEAST(kept, atol(arguments[3]));
  CHECK_EQ(malloc_trim(0), 1);
  CHECK_AT_MOST(rss_kib() - before, 2000);
  return 0;
}
