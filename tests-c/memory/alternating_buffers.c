/* Big buffers of alternating sizes, made and freed across threads, are reused or given back round after round. */
//@ modes=system,preload,static,dlopen rows=R09 tags=alone need=ram4
#include "test.h"

static char *handed[4];
static pthread_barrier_t barrier;

static void *run(void *argument) {
  uintptr_t number = (uintptr_t)argument;
  for (int round = 0; round < 6; round++) {
    size_t size = (size_t)(10 + 30 * ((round + (int)number) % 4)) * MIB;
    char *buffer = malloc(size);
    CHECK(buffer != NULL);
    for (size_t at = 0; at < size; at += 4096) buffer[at] = 1;
    handed[number] = buffer;
    pthread_barrier_wait(&barrier);
    free(handed[(number + 1) % 4]);
    pthread_barrier_wait(&barrier);
    if (number == 0) CHECK_AT_MOST(rss_kib(), 300 * 1024); /* 220 MiB are live at most, none now */
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  long before = rss_kib();
  pthread_barrier_init(&barrier, NULL, 4);
  for (uintptr_t i = 0; i < 4; i++) threads[i] = start_thread(run, (void *)i);
  for (int i = 0; i < 4; i++) join(threads[i]);
  if (rss_kib() - before > 64 * 1024) sleep_ms(2000);
  CHECK_AT_MOST(rss_kib() - before, 64 * 1024);
  return 0;
}
