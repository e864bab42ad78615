/* With no memory left, shrinking by realloc still succeeds, keeps the contents, and never reads past the block. */
//@ modes=system,preload,static,dlopen rows=A11
#include "test.h"

int main(void) {
  static const size_t sizes[] = {100, 1000, 5000, 70000, 600000, 5 * MIB, 40 * MIB};
  enum { COUNT = sizeof sizes / sizeof sizes[0] };
  char *blocks[COUNT];
  for (int i = 0; i < COUNT; i++) {
    CHECK((blocks[i] = malloc(sizes[i])) != NULL);
    stamp(blocks[i], sizes[i], (uint64_t)i);
  }
  struct rlimit none = {1 * MIB, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
  CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
  for (size_t size = 64 * MIB; size >= 16; size /= 2)
    while (keep(malloc(size)) != NULL) { /* use up what the heap still has */
    }
  for (int i = 0; i < COUNT; i++)
    for (size_t part = 2; part <= 64; part *= 4) {
      char *smaller = realloc(blocks[i], sizes[i] / part);
      if (smaller == NULL) fail("shrinking %zu bytes to %zu was refused", sizes[i], sizes[i] / part);
      CHECK(holds(smaller, sizes[i] / part, (uint64_t)i));
      blocks[i] = smaller;
    }
  errno = 0;
  CHECK(realloc(blocks[0], 100 * MIB) == NULL);
  CHECK_EQ(errno, ENOMEM);
  CHECK_EQ(setrlimit(RLIMIT_AS, &all), 0);
  for (int i = 0; i < COUNT; i++) {
    CHECK((blocks[i] = realloc(blocks[i], sizes[i] * 2)) != NULL);
    CHECK(holds(blocks[i], sizes[i] / 32, (uint64_t)i));
    free(blocks[i]);
  }
  return 0;
}
