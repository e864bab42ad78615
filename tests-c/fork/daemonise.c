/* A process that forks and lets its parent end gives memory back as well as its parent did. */
//@ modes=system,preload,static rows=F12 tags=alone need=ram4
#include "test.h"

enum { BLOCKS = 1 << 19, SIZE = 2000 };
static void *blocks[BLOCKS];

int main(void) {
  int pipes[2];
  char verdict = 'x';
  CHECK_EQ(pipe(pipes), 0);
  long before = rss_kib();
  for (int i = 0; i < BLOCKS; i++) memset(blocks[i] = malloc(SIZE), 1, SIZE);
  CHECK_AT_LEAST(rss_kib() - before, 900 * 1024);
  if (fork() == 0) {
    if (fork() > 0) _exit(0); /* the grandchild has no parent any more */
    setsid();
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    sleep_ms(rss_kib() - before > 64 * 1024 ? 2000 : 0);
    long left = rss_kib() - before;
    dprintf(2, "%ld KiB left\n", left);
    verdict = left <= 64 * 1024 ? 'y' : 'n';
    CHECK_EQ(write(pipes[1], &verdict, 1), 1);
    _exit(0);
  }
  CHECK_EQ(read(pipes[0], &verdict, 1), 1);
  CHECK_EQ(verdict, 'y');
  return 0;
}
