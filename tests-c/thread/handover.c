/* Blocks outlive the thread that made them: contents stay, others measure, grow and free them, the space is used again. */
//@ modes=system,preload,static,full,dlopen rows=T05,T08,R02
#include "test.h"

enum { COUNT = 400 };
struct set {
  void *block[COUNT];
  size_t size[COUNT];
};

static void *make(void *argument) {
  struct set *set = argument;
  for (int i = 0; i < COUNT; i++) {
    set->size[i] = i % 100 == 0 ? 2 * MIB + (size_t)i : (size_t)(i * i) % 5000 + 1;
    set->block[i] = i % 7 == 0 ? memalign(256, set->size[i]) : malloc(set->size[i]);
    CHECK(set->block[i] != NULL);
    stamp(set->block[i], set->size[i], (uint64_t)i);
  }
  return set;
}

static void *take(void *argument) {
  struct set *set = argument;
  for (int i = 0; i < COUNT; i++) {
    CHECK_AT_LEAST(malloc_usable_size(set->block[i]), set->size[i]);
    CHECK(holds(set->block[i], set->size[i], (uint64_t)i));
    if (i % 3 == 0) {
      set->block[i] = realloc(set->block[i], set->size[i] * 2);
      CHECK(set->block[i] != NULL && holds(set->block[i], set->size[i], (uint64_t)i));
    }
    free(set->block[i]);
  }
  free(set);
  return NULL;
}

int main(void) {
  long steady = 0;
  for (int round = 0; round < 24; round++) {
    struct set *sets[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(make, sets[i] = malloc(sizeof(struct set)));
    for (int i = 0; i < 4; i++) join(threads[i]); /* the makers are gone */
    for (int i = 0; i < 4; i++) threads[i] = start_thread(take, sets[(i + 1) % 4]);
    for (int i = 0; i < 4; i++) join(threads[i]);
    prove_sound();
    if (round == 12) steady = rss_kib();
  }
  CHECK_AT_MOST(rss_kib() - steady, 24 * 1024);
  return 0;
}
