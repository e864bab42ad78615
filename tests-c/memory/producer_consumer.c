/* Blocks made by one thread and freed by another are reused, although the owner sleeps or the other only ever frees. */
//@ modes=preload,static rows=R01 tags=alone timeout=120
//@ case free_only_consumer args="consumer"
//@ case many_producers args="producers"
//@ case idle_owner args="idle"
#include <sched.h>

#include "test.h"

/* What may be resident: 1.3 times what was ever live, and what a program of this kind has anyway. */
static void check_bound(long before, size_t live) {
  long rise = rss_kib() - before;
  dprintf(2, "live %zu KiB, resident %ld KiB\n", live / 1024, rise);
  CHECK_AT_MOST(rise, (long)(live / 1024 * 13 / 10) + 8 * 1024);
}

enum { RING = 65536, SIZE = 400 };
static void *volatile ring[RING];
static volatile int stop;

static void *consume(void *unused) {
  while (!stop)
    for (int i = 0; i < RING; i++) {
      void *block = __atomic_exchange_n(&ring[i], NULL, __ATOMIC_ACQ_REL);
      if (block != NULL) CHECK_EQ(((char *)block)[SIZE - 1], 1);
      free(block);
    }
  return unused;
}

static void *produce(void *argument) {
  uint64_t state = (uintptr_t)argument + 1;
  for (long i = 0; i < 300000; i++) {
    void *block = malloc(SIZE);
    memset(block, 1, SIZE);
    size_t at = next_random(&state) % RING;
    for (int tries = 0; __atomic_load_n(&ring[at], __ATOMIC_RELAXED) != NULL; tries++) {
      at = next_random(&state) % RING;
      if (tries > 16) sched_yield(); /* full: the consumer's turn */
    }
    free(__atomic_exchange_n(&ring[at], block, __ATOMIC_ACQ_REL));
  }
  return NULL;
}

static void with_producers(uintptr_t producers) {
  long before = rss_kib();
  pthread_t thread[16], consumer = start_thread(consume, NULL);
  for (uintptr_t i = 0; i < producers; i++) thread[i] = start_thread(produce, (void *)i);
  for (uintptr_t i = 0; i < producers; i++) join(thread[i]);
  check_bound(before, (size_t)RING * SIZE);
  stop = 1;
  join(consumer);
}

enum { COUNT = 200000 };
static void *blocks[COUNT];
static pthread_barrier_t barrier;

static void *own_and_sleep(void *unused) {
  for (int i = 0; i < COUNT; i++) memset(blocks[i] = malloc(SIZE), 1, SIZE);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier); /* sleeps until the end */
  return unused;
}

static void *use_again(void *unused) {
  static void *mine[COUNT / 2];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT / 2; i++) memset(mine[i] = malloc(SIZE * 2), 1, SIZE * 2);
    for (int i = 0; i < COUNT / 2; i++) free(mine[i]);
  }
  for (int i = 0; i < COUNT / 2; i++) memset(mine[i] = malloc(SIZE * 2), 1, SIZE * 2);
  return unused;
}

static void idle_owner(void) {
  long before = rss_kib();
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t owner = start_thread(own_and_sleep, NULL);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < COUNT; i++) free(blocks[i]); /* the owner never looks */
  join(start_thread(use_again, NULL));
  check_bound(before, (size_t)COUNT * SIZE);
  pthread_barrier_wait(&barrier);
  join(owner);
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  memset((void *)ring, 0, sizeof ring);
  if (strcmp(arguments[1], "idle") == 0)
    idle_owner();
  else
    with_producers(strcmp(arguments[1], "consumer") == 0 ? 1 : 8);
  return 0;
}
