/* A core dump after a peak holds what is live, not what was given back. */
//@ modes=system,preload,static rows=O17 need=core tags=alone
#include <sys/stat.h>

#include "test.h"

int main(void) {
  pid_t child = fork();
  if (child == 0) {
    enum { COUNT = 200000 };
    static void *blocks[COUNT];
    struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
    CHECK_EQ(setrlimit(RLIMIT_CORE, &any), 0);
    for (int i = 0; i < COUNT; i++) memset(blocks[i] = malloc(3000), 1, 3000);
    void *large = memset(malloc(300 * MIB), 1, 300 * MIB);
    free(large);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    malloc_trim(0);
    signal(SIGABRT, SIG_DFL);
    abort();
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WCOREDUMP(status));
  char name[40];
  struct stat core;
  snprintf(name, sizeof name, "core.%d", child);
  CHECK(stat("core", &core) == 0 || stat(name, &core) == 0);
  CHECK_AT_MOST(core.st_blocks / 2, 32 * 1024);
  return 0;
}
