/* A parked thread that holds one block costs little, however many there are. */
//@ modes=system,preload,static,dlopen rows=O11,R08,R10 tags=alone
#include "test.h"

enum { THREADS = 200 };
static pthread_barrier_t ready, done;

static void *park(void *block_wanted) {
  void *block = block_wanted != NULL ? malloc(100) : NULL;
  if (block != NULL) memset(block, 1, 100);
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&done);
  free(block);
  return NULL;
}

/* Resident memory with all threads parked. */
static long with_threads(void *block_wanted) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&ready, NULL, THREADS + 1);
  pthread_barrier_init(&done, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(park, block_wanted);
  pthread_barrier_wait(&ready);
  long resident = rss_kib();
  pthread_barrier_wait(&done);
  for (int i = 0; i < THREADS; i++) join(threads[i]);
  return resident;
}

int main(void) {
  with_threads(NULL); /* stacks are cached from now on */
  long bare = with_threads(NULL), holding = with_threads(&bare);
  dprintf(2, "%ld KiB per thread\n", (holding - bare) / THREADS);
  CHECK_AT_MOST((holding - bare) / THREADS, 48);
  return 0;
}
