/* A process that has no /proc works as ever. */
//@ modes=system,preload,static,full rows=R10 need=mount
#include <sched.h>
#include <sys/mount.h>

#include "work.h"

int main(int count, char **arguments) {
  if (count == 1) {
    int self = open("/proc/self/exe", O_RDONLY);
    CHECK(self >= 0);
    CHECK_EQ(unshare(CLONE_NEWNS), 0);
    CHECK_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    CHECK_EQ(mount("none", "/proc", "tmpfs", 0, NULL), 0);
    extern char **environ;
    fexecve(self, (char *[]){arguments[0], "without", NULL}, environ);
    fail("exec: %s", strerror(errno));
  }
  CHECK(access("/proc/self", F_OK) != 0);
  start_work(4);
  reach_every_path(1);
  sleep_ms(100);
  end_work();
  return 0;
}
