/* Four threads exhaust a limit at once, again and again: refusals are clean, contents survive, space comes back. */
//@ modes=system,preload,static rows=S07 timeout=120
#include "test.h"

static pthread_barrier_t barrier;
static long refusals;
enum { MOST = 40000 };
static struct { void *block; size_t size; } all[4][MOST];

static void *exhaust(void *argument) {
  __typeof__(all[0][0]) *held = all[(uintptr_t)argument];
  uint64_t state = (uintptr_t)argument + 1;
  for (int round = 0; round < 4; round++) {
    int count = 0;
    pthread_barrier_wait(&barrier);
    while (count < MOST) {
      size_t size = 64 + next_random(&state) % ((size_t)1 << (7 + next_random(&state) % 12));
      errno = 0;
      void *block = malloc(size);
      if (block == NULL) {
        CHECK_EQ(errno, ENOMEM);
        __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
        break;
      }
      stamp(block, size, (uint64_t)count);
      held[count].block = block;
      held[count++].size = size;
    }
    for (int i = 0; i < count; i++) CHECK(holds(held[i].block, held[i].size, (uint64_t)i));
    for (int i = 0; i < count; i++) free(held[i].block);
    pthread_barrier_wait(&barrier);
    prove_sound();
    void *block = malloc(100000);
    CHECK(block != NULL);
    free(block);
  }
  return NULL;
}

int main(void) {
  struct rlimit bound = {200 * MIB, 200 * MIB};
  pthread_t threads[4];
  pthread_attr_t attributes;
  CHECK_EQ(setrlimit(RLIMIT_AS, &bound), 0);
  mallopt(M_ARENA_MAX, 1); /* glibc reserves 64 MiB per arena, ours has none */
  pthread_barrier_init(&barrier, NULL, 4);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * KIB);
  for (uintptr_t i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], &attributes, exhaust, (void *)i), 0);
  for (int i = 0; i < 4; i++) join(threads[i]);
  CHECK_AT_LEAST(refusals, 4);
  return 0;
}
