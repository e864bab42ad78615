/* A program that hardly allocates has hardly more resident than on glibc. */
//@ modes=preload rows=R10 tags=alone
#include <stdio.h>

#include "test.h"

static long peak_kib(const char *preload) {
  struct rusage usage;
  int status;
  pid_t child = fork();
  if (child == 0) {
    unsetenv("LD_PRELOAD");
    if (preload != NULL) setenv("LD_PRELOAD", preload, 1);
    execl("/bin/echo", "echo", "hello", (char *)NULL);
    _exit(1);
  }
  CHECK_EQ(wait4(child, &status, 0, &usage), child);
  CHECK_EQ(status, 0);
  return usage.ru_maxrss;
}

int main(void) {
  long glibc = peak_kib(NULL), ours = peak_kib(getenv("TEST_LIBRARY"));
  dprintf(2, "echo: %ld KiB on glibc, %ld KiB on the library\n", glibc, ours);
  CHECK_AT_MOST(ours - glibc, 2 * 1024);
  return 0;
}
