/* Threads live for a moment, allocate, and hand their blocks to others: resident memory returns to where it began. */
//@ modes=system,preload,static,dlopen rows=R02,T05 tags=long,alone timeout=120 long_timeout=1800
#include "test.h"

enum { TOGETHER = 8, BLOCKS = 50 };
static void *handed[1024][BLOCKS];

static void *run(void *argument) {
  uintptr_t number = (uintptr_t)argument;
  void **slot = handed[number % 1024];
  for (int i = 0; i < BLOCKS; i++) {
    free(slot[i]); /* made by a thread that is long gone */
    size_t size = 16 + (number * 7 + (size_t)i * 131) % 2000;
    slot[i] = malloc(size);
    CHECK(slot[i] != NULL);
    stamp(slot[i], 16, number);
    if (i % 4 == 0) free(keep(malloc(size * 3)));
  }
  return NULL;
}

static void wave(long from, long count) {
  pthread_t threads[TOGETHER];
  for (long at = from; at < from + count; at += TOGETHER) {
    for (long i = 0; i < TOGETHER; i++) threads[i] = start_thread(run, (void *)(uintptr_t)(at + i));
    for (int i = 0; i < TOGETHER; i++) join(threads[i]);
  }
}

static void drop_all(void) {
  for (int s = 0; s < 1024; s++)
    for (int i = 0; i < BLOCKS; i++) {
      free(handed[s][i]);
      handed[s][i] = NULL;
    }
}

int main(void) {
  memset(handed, 0, sizeof handed);
  wave(0, 64);
  drop_all();
  long before = rss_kib(), live;
  wave(0, 4096);
  live = rss_kib();
  wave(4096, length(6000, 96000));
  CHECK_AT_MOST(rss_kib() - live, 16 * 1024); /* the live set did not grow, so neither may we */
  for (int s = 0; s < 1024; s++)
    for (int i = 0; i < BLOCKS; i++) CHECK(handed[s][i] != NULL);
  prove_sound();
  drop_all();
  if (rss_kib() - before > 4 * 1024) sleep_ms(2000);
  CHECK_AT_MOST(rss_kib() - before, mode_is("system") ? 100 * 1024 : 4 * 1024);
  return 0;
}
