/* 16 threads churn while the process forks over and over; every child reaches every path and starts a thread. */
//@ modes=system,preload,static,dlopen rows=F01,F02,F03 tags=long timeout=120 long_timeout=5400
#include <dirent.h>

#include "work.h"

static void *in_child(void *unused) {
  reach_every_path(11);
  return unused;
}

static void child(int round) {
  alarm(30); /* a stuck child dies of SIGALRM and is reported */
  setenv("STORM", "value", 1);
  DIR *directory = opendir("/proc/self");
  CHECK(directory != NULL);
  while (readdir(directory) != NULL) {
  }
  closedir(directory);
  for (int i = 0; i < 256; i++) free(__atomic_exchange_n(&work_shared[i], NULL, __ATOMIC_ACQ_REL));
  reach_every_path((uint64_t)round + 1);
  if (round % 4 == 0) join(start_thread(in_child, NULL));
  _exit(0);
}

int main(void) {
  start_work(16);
  for (int round = 0; round < length(60, 10000); round++) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) child(round);
    expect_clean_exit(pid);
    if (round % 1000 == 999) dprintf(2, "%d forks\n", round + 1);
  }
  end_work();
  return 0;
}
