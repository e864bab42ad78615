/* Fixed priorities on one CPU: the urgent thread never spins on what the one it displaced has half done. */
//@ modes=system,preload,static rows=P08 need=fifo timeout=60 tags=alone
#include <sched.h>

#include "test.h"

enum { SLOTS = 512 };
static void *volatile shared[SLOTS];
static volatile int stop;

static void *urgent(void *unused) {
  uint64_t state = 5;
  double worst = 0;
  while (!stop) {
    double before = seconds();
    for (int i = 0; i < SLOTS; i++) free(__atomic_exchange_n(&shared[i], NULL, __ATOMIC_ACQ_REL));
    for (int i = 0; i < 200; i++) free(keep(malloc(next_random(&state) % 3000)));
    free(keep(malloc(2 * MIB)));
    malloc_trim(0);
    if (seconds() - before > worst) worst = seconds() - before;
    struct timespec pause = {0, 200000}; /* wakes in the middle of whatever the other does */
    nanosleep(&pause, NULL);
  }
  CHECK(worst < 1.0);
  return unused;
}

static void *modest(void *unused) {
  uint64_t state = 7;
  double end = seconds() + 2;
  while (seconds() < end)
    for (int i = 0; i < SLOTS; i++) {
      size_t size = 1 + next_random(&state) % ((size_t)1 << (4 + next_random(&state) % 14));
      free(__atomic_exchange_n(&shared[i], malloc(size), __ATOMIC_ACQ_REL));
    }
  stop = 1;
  return unused;
}

static pthread_t start_with(int priority, void *(*run)(void *)) {
  pthread_attr_t attributes;
  struct sched_param parameter = {.sched_priority = priority};
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &parameter);
  CHECK_EQ(pthread_create(&thread, &attributes, run, NULL), 0);
  return thread;
}

int main(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  pthread_t low = start_with(10, modest), high = start_with(20, urgent);
  join(low);
  join(high);
  return 0;
}
