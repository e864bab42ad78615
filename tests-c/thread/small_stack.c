/* Threads with the smallest stack the system allows can use every entry point and die. */
//@ modes=system,preload,static,dlopen rows=S10
#include <limits.h>

#include "test.h"

static void *run(void *unused) {
  for (size_t size = 1; size < 8 * MIB; size = size * 2 + 1) {
    char *block = malloc(size);
    CHECK(block != NULL);
    block = realloc(block, size + size / 2);
    CHECK(block != NULL);
    free(block);
    free(keep(calloc(1, size)));
    free(keep(memalign(4096, size)));
  }
  malloc_trim(0);
  return unused;
}

int main(void) {
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  CHECK_EQ(pthread_attr_setstacksize(&smallest, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, &smallest, run, NULL), 0);
    join(thread);
  }
  return 0;
}
