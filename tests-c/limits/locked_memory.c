/* With all memory locked, purging can't drop pages: calloc is still zero, nothing fails. */
//@ modes=system,preload,static,dlopen rows=A02 need=root
//@ case future args="3"
//@ case on_fault args="7"
#include "test.h"

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  CHECK_EQ(mlockall(atoi(arguments[1])), 0); /* MCL_CURRENT | MCL_FUTURE, MCL_ONFAULT */
  static const size_t sizes[] = {40, 1000, 5000, 70000, 600000, 3 * MIB, 30 * MIB};
  for (int round = 0; round < 4; round++)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      enum { COUNT = 20 };
      char *blocks[COUNT];
      int together = sizes[s] > MIB ? 3 : COUNT;
      for (int i = 0; i < together; i++) {
        CHECK((blocks[i] = calloc(1, sizes[s])) != NULL);
        CHECK(is_zero(blocks[i], sizes[s]));
        memset(blocks[i], 0xff, malloc_usable_size(blocks[i]));
      }
      for (int i = 0; i < together; i++) {
        errno = 55;
        free(blocks[i]);
        CHECK_EQ(errno, 55);
      }
      malloc_trim(0);
    }
  return 0;
}
