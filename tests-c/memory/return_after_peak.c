/* After 1 GiB of blocks is freed and no further call is made, resident memory falls to the baseline within 2 s. */
//@ modes=preload,static rows=R03,R04,S09 need=ram4 tags=alone timeout=120
//@ case small args="512 order" modes=system,preload,static
//@ case small_random args="512 random"
//@ case medium args="16384 random"
//@ case large args="1048576 random" modes=system,preload,static
//@ case mixed args="mixed random"
//@ case threads args="threads random" modes=preload,static
#include "test.h"

enum { MOST = 6 << 20 };
static void **blocks;
static size_t count;
static pthread_barrier_t full;

/* Fills up to `share` bytes with random sizes up to `limit`; a limit of 0 mixes 16 B to 1 MiB. */
static void fill(size_t share, size_t limit, uint64_t seed) {
  for (size_t got = 0; got < share;) {
    size_t most = limit != 0 ? limit : (size_t)16 << next_random(&seed) % 17;
    size_t size = most / 16 + next_random(&seed) % (most - most / 16);
    void *block = malloc(size);
    CHECK(block != NULL);
    memset(block, 1, size);
    size_t at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    CHECK(at < MOST);
    blocks[at] = block;
    got += size;
  }
}

static void *fill_in_thread(void *argument) {
  fill(GIB / 4, 2048, (uintptr_t)argument + 1);
  pthread_barrier_wait(&full); /* stays, idle, owning what main frees */
  pthread_barrier_wait(&full);
  return NULL;
}

int main(int arguments_count, char **arguments) {
  CHECK_EQ(arguments_count, 3);
  int threads = strcmp(arguments[1], "threads") == 0;
  pthread_t thread[4];
  blocks = mmap(NULL, MOST * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memset(blocks, 0, MOST * sizeof(void *)); /* ours, not the allocator's */
  free(keep(malloc(100)));
  long baseline = rss_kib();
  pthread_barrier_init(&full, NULL, 5);
  if (threads) {
    for (uintptr_t i = 0; i < 4; i++) thread[i] = start_thread(fill_in_thread, (void *)i);
    pthread_barrier_wait(&full);
  } else {
    fill(GIB, strtoul(arguments[1], NULL, 10), 1);
  }
  long peak = rss_kib() - baseline;
  CHECK_AT_LEAST(peak, 1000 * 1024);
  if (strcmp(arguments[2], "random") == 0) {
    uint64_t state = 99;
    for (size_t i = count - 1; i > 0; i--) {
      size_t other = next_random(&state) % (i + 1);
      void *swapped = blocks[i];
      blocks[i] = blocks[other];
      blocks[other] = swapped;
    }
  }
  for (size_t i = 0; i < count; i++) free(blocks[i]);
  long at_once = rss_kib() - baseline, later = at_once;
  if (at_once > 64 * 1024) {
    sleep_ms(2000);
    later = rss_kib() - baseline;
  }
  dprintf(2, "%s: peak %ld KiB, left at once %ld KiB, at the end %ld KiB\n", arguments[1], peak, at_once, later);
  CHECK_AT_MOST(later, 64 * 1024);
  if (threads) {
    pthread_barrier_wait(&full);
    for (int i = 0; i < 4; i++) join(thread[i]);
  }
  return 0;
}
