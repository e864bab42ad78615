/* fork, vfork, posix_spawn, popen and system at the same time from different threads, with the heap in motion. */
//@ modes=system,preload,static rows=F04,F05,F11,F16 timeout=120
#include <spawn.h>

#include "work.h"

extern char **environ;

static void *by_fork(void *unused) {
  for (int i = 0; i < 60; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      reach_every_path(2);
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    expect_clean_exit(child);
  }
  return unused;
}

static void *by_vfork(void *unused) {
  for (int i = 0; i < 60; i++) {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    expect_clean_exit(child);
  }
  return unused;
}

static void *by_spawn(void *unused) {
  for (int i = 0; i < 60; i++) {
    pid_t child;
    char *arguments[] = {"true", NULL};
    CHECK_EQ(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ), 0);
    expect_clean_exit(child);
  }
  return unused;
}

static void *by_popen(void *unused) {
  for (int i = 0; i < 60; i++) {
    char line[20] = "";
    FILE *pipe = popen("echo said", "re");
    CHECK(pipe != NULL && fgets(line, sizeof line, pipe) != NULL);
    CHECK(strcmp(line, "said\n") == 0);
    CHECK_EQ(pclose(pipe), 0);
  }
  return unused;
}

static void *by_system(void *unused) {
  for (int i = 0; i < 30; i++) CHECK_EQ(system("true"), 0);
  return unused;
}

int main(void) {
  void *(*forms[])(void *) = {by_fork, by_fork, by_vfork, by_spawn, by_popen, by_system};
  pthread_t threads[6];
  start_work(3);
  for (int i = 0; i < 6; i++) threads[i] = start_thread(forms[i], NULL);
  for (int i = 0; i < 6; i++) join(threads[i]);
  end_work();
  return 0;
}
