/* Growing or zero-filling huge blocks touches no page: 1 GiB to 2 GiB by realloc, 4 GiB by calloc. */
//@ modes=system,preload,static,full,dlopen rows=S08 tags=alone
#include "test.h"

int main(void) {
  long before = rss_kib();
  char *block = malloc(GIB);
  CHECK(block != NULL);
  block[0] = 1;
  block[GIB - 1] = 2;
  block = realloc(block, 2 * GIB);
  CHECK(block != NULL);
  CHECK_EQ(block[0], 1);
  CHECK_EQ(block[GIB - 1], 2);
  CHECK_AT_MOST(rss_kib() - before, 8 * 1024);
  free(block);
  block = calloc(4, GIB);
  CHECK(block != NULL);
  CHECK_EQ(block[3 * GIB], 0);
  CHECK_AT_MOST(rss_kib() - before, 8 * 1024);
  free(block);
  CHECK_AT_MOST(rss_kib() - before, 8 * 1024);
  return 0;
}
