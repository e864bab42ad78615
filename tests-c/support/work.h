/* Work that reaches every path of an allocator: all sizes, all forms, other threads' blocks, memory given back. */
#ifndef WORK_H
#define WORK_H
#include "test.h"

/* One round over all sizes: small classes, medium, large, huge, aligned, zeroed, grown, trimmed. */
static inline void reach_every_path(uint64_t seed) {
  void *kept[64];
  for (int i = 0; i < 64; i++) {
    size_t size = ((size_t)1 << i % 19) + next_random(&seed) % 50;
    kept[i] = i % 3 == 0 ? calloc(1, size) : i % 3 == 1 ? malloc(size) : memalign((size_t)16 << i % 9, size);
    CHECK(kept[i] != NULL);
    stamp(kept[i], size < 64 ? size : 64, seed);
  }
  for (int i = 0; i < 64; i += 2) CHECK((kept[i] = realloc(kept[i], (size_t)3 << i % 20)) != NULL);
  for (int i = 0; i < 64; i++) free(kept[i]);
  free(keep(malloc(5 * MIB)));
  free(keep(realloc(keep(malloc(3 * MIB)), 70 * MIB)));
  malloc_trim(0);
  prove_sound();
}

static volatile int work_stop;
static void *volatile work_shared[256];

/* Until work_stop: allocates, and frees what other threads put into the shared table. */
static void *work_churn(void *argument) {
  uint64_t state = (uintptr_t)argument * 977 + 3;
  while (!work_stop) {
    size_t size = next_random(&state) % ((size_t)1 << (3 + next_random(&state) % 16));
    char *block = (char *)malloc(size);
    CHECK(block != NULL);
    if (size > 0) block[0] = block[size - 1] = 1;
    free(__atomic_exchange_n(&work_shared[next_random(&state) % 256], (void *)block, __ATOMIC_ACQ_REL));
    if (next_random(&state) % 4096 == 0) {
      free(keep(malloc(2 * MIB)));
      malloc_trim(0);
    }
  }
  return NULL;
}

enum { WORK_MOST = 16 };
static pthread_t work_threads[WORK_MOST];
static int work_count;

static inline void start_work(int count) {
  work_count = count;
  for (uintptr_t i = 0; i < (uintptr_t)count; i++) work_threads[i] = start_thread(work_churn, (void *)(i + 1));
}

static inline void end_work(void) {
  work_stop = 1;
  for (int i = 0; i < work_count; i++) join(work_threads[i]);
}

#endif
