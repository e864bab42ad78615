/* While one thread gives a GiB back to the kernel, others go on allocating. */
//@ modes=preload,static rows=P02 tags=alone need=ram4
#include "test.h"

enum { BLOCKS = 1 << 16, SIZE = 16384 };
static void *blocks[BLOCKS];
static volatile int phase;
static double worst;
static long rounds;

static void *allocate(void *unused) {
  uint64_t state = 3;
  while (phase == 0) sched_yield();
  while (phase == 1) {
    double before = seconds();
    for (int i = 0; i < 20; i++) free(keep(malloc(next_random(&state) % 5000)));
    free(keep(malloc(300000 + next_random(&state) % 1000000)));
    if (seconds() - before > worst) worst = seconds() - before;
    rounds++;
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++) memset(blocks[i] = malloc(SIZE), 1, SIZE);
  pthread_t other = start_thread(allocate, NULL);
  sleep_ms(20);
  phase = 1;
  double before = seconds();
  for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
  malloc_trim(0);
  double took = seconds() - before;
  phase = 2;
  join(other);
  dprintf(2, "giving back took %.1f ms, the longest round beside it %.1f ms, %ld rounds\n", took * 1e3, worst * 1e3, rounds);
  CHECK_AT_LEAST(rounds, 100);
  CHECK(worst < 0.05 + took / 4);
  return 0;
}
