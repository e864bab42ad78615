/* Random churn and sparse frees keep the number of mappings small, far from the kernel's limit. */
//@ modes=system,preload,static,dlopen rows=O02,S11 tags=long timeout=120
//@ case churn args="churn"
//@ case every_other args="every_other"
#include "test.h"

static void churn(void) {
  enum { SLOTS = 1000 };
  static void *slots[SLOTS];
  uint64_t state = 11;
  long most = 0;
  for (long step = 0; step < length(300000, 10000000); step++) {
    size_t at = next_random(&state) % SLOTS;
    free(slots[at]);
    size_t size = 16 * KIB + next_random(&state) % (2 * MIB);
    CHECK((slots[at] = malloc(size)) != NULL);
    *(char *)slots[at] = 1;
    if (step % 5000 == 0) {
      long maps = map_count();
      most = maps > most ? maps : most;
    }
  }
  CHECK_AT_MOST(most, 4000);
  for (int i = 0; i < SLOTS; i++) free(slots[i]);
  malloc_trim(0);
  CHECK_AT_MOST(map_count(), 1000);
}

static void every_other(void) {
  enum { COUNT = 100000 };
  static char *blocks[COUNT];
  for (int i = 0; i < COUNT; i++) {
    CHECK((blocks[i] = malloc(40 * KIB)) != NULL);
    blocks[i][0] = 1;
  }
  for (int i = 0; i < COUNT; i += 2) free(blocks[i]);
  malloc_trim(0);
  CHECK_AT_MOST(map_count(), 20000);
  for (int i = 0; i < COUNT; i += 2) CHECK((blocks[i] = malloc(40 * KIB)) != NULL);
  for (int i = 1; i < COUNT; i += 2) CHECK_EQ(blocks[i][0], 1);
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  if (strcmp(arguments[1], "churn") == 0)
    churn();
  else
    every_other();
  return 0;
}
