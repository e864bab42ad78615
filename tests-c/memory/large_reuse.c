/* A loop that takes, touches and drops one big buffer does not go to the kernel each time; nor do threads with 1 MiB. */
//@ modes=preload,static rows=P01,P03,P07 tags=alone
//@ case big_1m args="1"
//@ case big_8m args="8"
//@ case big_32m args="32"
//@ case threads args="threads"
#include "test.h"

static void loop(size_t size, int rounds) {
  for (int i = 0; i < rounds; i++) {
    char *buffer = malloc(size);
    CHECK(buffer != NULL);
    for (size_t at = 0; at < size; at += 4096) buffer[at] = (char)i;
    free(buffer);
  }
}

static void *churn(void *argument) {
  uint64_t state = (uintptr_t)argument + 1;
  for (int i = 0; i < 3000; i++) loop(4 * KIB + next_random(&state) % MIB, 1);
  return NULL;
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  size_t size = strtoul(arguments[1], NULL, 10) * MIB, pages;
  long before;
  if (size != 0) {
    loop(size, 5);
    before = faults();
    loop(size, 100);
    pages = size / 4096 * 100;
  } else {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) threads[i] = start_thread(churn, (void *)i);
    for (int i = 0; i < 4; i++) join(threads[i]);
    before = 0;
    pages = 4 * 3000 * 130;
  }
  dprintf(2, "%ld faults for %zu pages touched\n", faults() - before, pages);
  CHECK_AT_MOST(faults() - before, (long)pages / 10);
  return 0;
}
