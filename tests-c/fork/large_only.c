/* The same with large and first-touched memory only, so that the locks behind big blocks are held at fork. */
//@ modes=system,preload,static rows=F02,F03,F04 tags=long timeout=120
#include "test.h"

static volatile int stop;

static void *churn(void *argument) {
  uint64_t state = (uintptr_t)argument + 1;
  while (!stop) {
    char *block = malloc(MIB + next_random(&state) % (30 * MIB));
    CHECK(block != NULL);
    block[0] = 1;
    block = realloc(block, 2 * MIB + next_random(&state) % (60 * MIB));
    CHECK(block != NULL);
    free(block);
    free(memalign(4 * MIB, next_random(&state) % (8 * MIB)));
    if (next_random(&state) % 16 == 0) malloc_trim(0);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  for (uintptr_t i = 0; i < 8; i++) threads[i] = start_thread(churn, (void *)i);
  for (int round = 0; round < length(40, 5000); round++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      for (int i = 0; i < 4; i++) {
        char *block = calloc(1, (size_t)(i + 1) * 3 * MIB);
        CHECK(block != NULL && block[MIB] == 0);
        free(block);
        free(keep(malloc(500000)));
      }
      malloc_trim(0);
      _exit(0);
    }
    expect_clean_exit(child);
  }
  stop = 1;
  for (int i = 0; i < 8; i++) join(threads[i]);
  return 0;
}
