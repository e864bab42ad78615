/* In a memory cgroup of 64 MiB a program that uses 40 MiB at a time, in ever other shapes, is not killed. */
//@ modes=system,preload,static rows=R10,O01,O11 need=cgroup timeout=120
#include <sys/stat.h>

#include "test.h"

static char group[200];

static int put(const char *file, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", group, file);
  int fd = open(path, O_WRONLY), done = -1;
  if (fd >= 0) {
    done = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
    close(fd);
  }
  return done;
}

static void *use(void *argument) {
  enum { SHARE = 10 << 20 };
  static const size_t sizes[] = {64, 1000, 5000, 40000, 300000, 2000000, 100};
  static void *held[4][SHARE / 64];
  void **mine = held[(uintptr_t)argument];
  for (int round = 0; round < 14; round++) {
    size_t size = sizes[round % 7], count = SHARE / size;
    for (size_t i = 0; i < count; i++) {
      mine[i] = malloc(size);
      CHECK(mine[i] != NULL);
      memset(mine[i], 1, size);
    }
    for (size_t i = 0; i < count; i++) free(mine[i]);
  }
  return NULL;
}

int main(void) {
  char self[20];
  const char *tops[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
  for (int i = 0; i < 2; i++) {
    snprintf(group, sizeof group, "%s/hakmem-test-%d", tops[i], getpid());
    if (mkdir(group, 0755) == 0) break;
    CHECK(i == 0);
  }
  CHECK(put("memory.limit_in_bytes", "67108864") == 0 || put("memory.max", "67108864") == 0);
  put("memory.swap.max", "0");
  pid_t child = fork();
  if (child == 0) {
    snprintf(self, sizeof self, "%d", getpid());
    CHECK_EQ(put("cgroup.procs", self), 0);
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) threads[i] = start_thread(use, (void *)i);
    for (int i = 0; i < 4; i++) join(threads[i]);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  for (int i = 0; i < 100 && rmdir(group) != 0; i++) sleep_ms(10);
  CHECK_EQ(status, 0);
  return 0;
}
