/* The corner cases of realloc are glibc's: to zero frees, a refusal leaves the block alone. */
//@ modes=system,preload,static,full,dlopen rows=A09,A11
#include "test.h"

int main(void) {
  static const size_t sizes[] = {1, 16, 100, 1000, 5000, 70000, 600000, 5000000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char *block = malloc(sizes[i]);
    CHECK(block != NULL);
    stamp(block, sizes[i], i);
    errno = 0;
    CHECK(realloc(block, PTRDIFF_MAX) == NULL);
    CHECK_EQ(errno, ENOMEM);
    errno = 0;
    CHECK(realloc(block, SIZE_MAX) == NULL);
    CHECK_EQ(errno, ENOMEM);
    CHECK(holds(block, sizes[i], i));
    char *same = realloc(block, sizes[i]);
    CHECK(same != NULL && holds(same, sizes[i], i));
    same = realloc(same, sizes[i] + 1);
    CHECK(same != NULL && holds(same, sizes[i], i));
    CHECK(realloc(same, 0) == NULL);
  }
  /* Neither form of zero leaks. */
  for (int warm = 0; warm < 2; warm++) {
    long before = rss_kib();
    for (int i = 0; i < 500000; i++) {
      free(realloc(NULL, 0));
      CHECK(realloc(malloc(100), 0) == NULL);
    }
    if (warm) CHECK_AT_MOST(rss_kib() - before, 256);
  }
  return 0;
}
