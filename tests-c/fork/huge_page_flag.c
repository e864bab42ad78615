/* The huge-page setting of the process is left alone, so programs it starts keep theirs. */
//@ modes=system,preload,static,dlopen rows=F15
#include <sys/prctl.h>

#include "work.h"

int main(int count, char **arguments) {
  long enabled = proc_field("/proc/self/status", "THP_enabled:");
  reach_every_path(1);
  CHECK_EQ(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), 0);
  CHECK_EQ(proc_field("/proc/self/status", "THP_enabled:"), enabled);
  if (count > 1) return 0;
  pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", arguments[0], "again", (char *)NULL);
    _exit(1);
  }
  expect_clean_exit(child);
  unsetenv("LD_PRELOAD");
  CHECK_EQ(system("grep -q '^THP_enabled:.*1' /proc/self/status"), enabled == 1 ? 0 : 256);
  return 0;
}
