/* Children that touch little of an inherited heap copy little of it. */
//@ modes=system,preload,static rows=F14 tags=alone
#include "test.h"

enum { BLOCKS = 64 * 1024, SIZE = 1024, EVERY = 1024 };
static char *blocks[BLOCKS];

int main(void) {
  for (int i = 0; i < BLOCKS; i++) memset(blocks[i] = malloc(SIZE), 1, SIZE);
  for (int round = 0; round < 8; round++) {
    pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < BLOCKS; i += EVERY) blocks[i][0] = 2; /* 64 places, a MiB apart */
      for (int i = 0; i < 1000; i++) free(keep(malloc((size_t)i)));
      CHECK_AT_MOST(proc_field("/proc/self/smaps_rollup", "Private_Dirty:"), 2 * 1024);
      _exit(0);
    }
    expect_clean_exit(child);
  }
  return 0;
}
