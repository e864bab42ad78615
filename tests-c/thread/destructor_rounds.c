/* Thread-specific data frees and allocates in all four rounds of destructors, also after the allocator's own turn. */
//@ modes=system,preload,static,full,dlopen rows=T03,T05,S04
#include "test.h"

enum { KEYS = 64 };
static pthread_key_t keys[KEYS];
static int calls;

struct item {
  int key, round;
  char *more;
};

static void set(int key, int round) {
  struct item *item = malloc(sizeof *item);
  item->key = key;
  item->round = round;
  item->more = calloc(1, (size_t)1 << key % 18);
  CHECK_EQ(pthread_setspecific(keys[key], item), 0);
}

static void destroy(void *value) {
  struct item *item = value;
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if (item->round < 4) set(item->key, item->round + 1);
  item->more = realloc(item->more, 5000);
  free(item->more);
  free(item);
}

static void make_keys(int from, int to) {
  for (int i = from; i < to; i++) CHECK_EQ(pthread_key_create(&keys[i], destroy), 0);
}

static void *run(void *unused) {
  for (int i = 0; i < KEYS; i++) set(i, 1);
  return unused;
}

int main(void) {
  make_keys(0, KEYS / 2); /* before this thread's heap did anything big */
  free(keep(malloc(2 * MIB)));
  make_keys(KEYS / 2, KEYS);
  long before = rss_kib();
  for (int i = 0; i < 300; i++) join(start_thread(run, NULL));
  CHECK_EQ(calls, 300 * KEYS * 4);
  CHECK_AT_MOST(rss_kib() - before, 24 * 1024);
  return 0;
}
