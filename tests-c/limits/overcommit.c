/* With strict commit accounting (overcommit 2) and without any (1), memory is served, refused with ENOMEM and reused. */
//@ modes=system,preload,static rows=O02 need=sysctl tags=machine,alone timeout=120
//@ case strict args="2"
//@ case always args="1"
#include "test.h"

static const char *const policy = "/proc/sys/vm/overcommit_memory", *const limit = "/proc/sys/vm/overcommit_kbytes",
                        *const ratio = "/proc/sys/vm/overcommit_ratio";
static char old_policy[20], old_limit[40], old_ratio[20];

static void get(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY);
  ssize_t got = read(fd, text, room - 1);
  CHECK(got > 0);
  text[got] = 0;
  close(fd);
}
static void put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY);
  CHECK(write(fd, text, strlen(text)) > 0);
  close(fd);
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  get(policy, old_policy, sizeof old_policy);
  get(limit, old_limit, sizeof old_limit);
  get(ratio, old_ratio, sizeof old_ratio);
  if (arguments[1][0] == '2') { /* room for 3 GiB more than the machine has promised so far */
    char text[40];
    snprintf(text, sizeof text, "%ld", proc_field("/proc/meminfo", "Committed_AS:") + 3 * 1024 * 1024);
    put(limit, text);
  }
  put(policy, arguments[1]);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    static const size_t sizes[] = {100, 5000, 300000, 3 * MIB};
    enum { MOST = 40000 };
    static void *blocks[MOST];
    for (int round = 0; round < 8; round++) {
      size_t size = sizes[round % 4], held = 0, got = 0;
      while (held < MOST && got < 200 * MIB && (blocks[held] = malloc(size)) != NULL) {
        stamp(blocks[held++], size < 100 ? size : 100, 1);
        got += size;
      }
      CHECK_AT_LEAST(got, size * MOST < 200 * MIB ? size * MOST : 200 * MIB);
      while (held > 0) free(blocks[--held]);
    }
    if (arguments[1][0] == '2') {
      errno = 0;
      CHECK(malloc(64 * GIB) == NULL);
      CHECK_EQ(errno, ENOMEM);
      char *block = malloc(MIB); /* growing beyond the limit is refused and keeps the block */
      CHECK(block != NULL && realloc(block, 64 * GIB) == NULL);
      free(block);
    }
    CHECK_AT_MOST(map_count(), 1000);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  put(policy, old_policy);
  put(strtol(old_limit, NULL, 10) != 0 ? limit : ratio, strtol(old_limit, NULL, 10) != 0 ? old_limit : old_ratio);
  CHECK_EQ(status, 0);
  return 0;
}
