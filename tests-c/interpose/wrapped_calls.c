/* Another preloaded library wraps the calls an allocator may make, and allocates inside: no deadlock, no recursion. */
//@ modes=system,preload,static rows=I02
//@ case first preload_before="wrapper.c"
//@ case last modes=preload preload_after="wrapper.c"
#include "test.h"

static void *churn(void *argument) {
  uint64_t state = (uintptr_t)argument + 5;
  for (int i = 0; i < 2000; i++) {
    size_t size = next_random(&state) % ((size_t)1 << (4 + next_random(&state) % 19));
    char *block = malloc(size);
    CHECK(block != NULL);
    if (size > 0) block[size - 1] = 1;
    block = realloc(block, size * 2 + 1);
    CHECK(block != NULL);
    free(block);
    if (i % 500 == 0) malloc_trim(0);
  }
  return NULL;
}

int main(void) {
  long *calls = dlsym(RTLD_DEFAULT, "wrapper_calls");
  CHECK(calls != NULL);
  pthread_t threads[3];
  for (uintptr_t i = 0; i < 3; i++) threads[i] = start_thread(churn, (void *)i);
  for (int i = 0; i < 3; i++) join(threads[i]);
  getpid();
  CHECK_AT_LEAST(*calls, 1); /* the wrappers were in the way */
  return 0;
}
