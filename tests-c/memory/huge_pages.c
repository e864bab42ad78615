/* Memory comes back and zeroes stay zero whatever the process or the system says about huge pages. */
//@ modes=system,preload,static rows=R05,A02 tags=alone timeout=120
//@ case never args="never"
//@ case as_is args="as_is"
//@ case always args="always" tags=machine,alone need=sysctl
#include <sys/prctl.h>

#include "test.h"

static const char *const setting = "/sys/kernel/mm/transparent_hugepage/enabled";

static void set(const char *word) {
  int fd = open(setting, O_WRONLY);
  CHECK(fd >= 0 && write(fd, word, strlen(word)) > 0);
  close(fd);
}

static void measure(void) {
  enum { COUNT = 300000 };
  static char *blocks[COUNT];
  memset(blocks, 0, sizeof blocks);
  long before = rss_kib();
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      blocks[i] = calloc(1, 800);
      CHECK(is_zero(blocks[i], 800));
      memset(blocks[i], 0xff, 800);
    }
    long full = rss_kib() - before;
    CHECK_AT_MOST(full, 320 * 1024);
    for (int i = 0; i < COUNT; i++)
      if (i % 100 != 0) free(blocks[i]);
    malloc_trim(0);
    for (int i = 0; i < COUNT; i += 100) free(blocks[i]);
    malloc_trim(0);
    sleep_ms(100); /* khugepaged must not fill holes again */
    long left = rss_kib() - before;
    dprintf(2, "full %ld KiB, left %ld KiB\n", full, left);
    CHECK_AT_MOST(left, 16 * 1024);
  }
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  if (strcmp(arguments[1], "never") == 0) CHECK_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
  if (strcmp(arguments[1], "always") != 0) {
    measure();
    return 0;
  }
  char before[100] = "", *chosen;
  int fd = open(setting, O_RDONLY);
  CHECK(read(fd, before, sizeof before - 1) > 0);
  close(fd);
  chosen = strchr(before, '[') + 1;
  *strchr(chosen, ']') = 0;
  set("always");
  pid_t child = fork();
  if (child == 0) {
    measure();
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  set(chosen);
  CHECK_EQ(status, 0);
  return 0;
}
