/* Beyond its mappings the allocator leaves no trace in the process: signals, descriptors, threads, limits, settings. */
//@ modes=preload,static,full,dlopen rows=F15
#include <sys/prctl.h>
#include <sys/stat.h>

#include "test.h"

int main(void) {
  static const size_t sizes[] = {10, 1000, 50000, 3 * MIB, 50 * MIB};
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) free(memset(malloc(sizes[i]), 1, sizes[i]));
    malloc_trim(0);
  }
  for (int number = 1; number < 65; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0) CHECK(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
  }
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  for (int number = 1; number < 32; number++) CHECK_EQ(sigismember(&blocked, number), 0);
  for (int fd = 3; fd < 1024; fd++) CHECK(fcntl(fd, F_GETFD) < 0);
  CHECK_EQ(proc_field("/proc/self/status", "Threads:"), 1);
  CHECK_EQ(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), 0);
  CHECK_EQ(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
  CHECK_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
  CHECK_EQ(umask(022), 022);
  CHECK(getenv("LD_PRELOAD") != NULL || !mode_is("preload"));
  CHECK_EQ(proc_field("/proc/self/status", "VmLck:"), 0);
  return 0;
}
