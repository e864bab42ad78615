/* Under valgrind's memcheck the program runs clean, whether valgrind takes malloc over or leaves it to us. */
//@ modes=system,preload,static rows=I06 need=valgrind timeout=120
//@ case taken_over wrap="valgrind -q --error-exitcode=9 --leak-check=no"
//@ case left_to_us modes=preload,static wrap="valgrind -q --error-exitcode=9 --leak-check=no --soname-synonyms=somalloc=nouserintercepts"
#include "test.h"

static void *thread(void *block) {
  CHECK(holds(block, 5000, 1));
  free(block);
  for (size_t size = 1; size < 3 * MIB; size = size * 3 + 1) free(malloc(size));
  return NULL;
}

int main(void) {
  for (size_t size = 1; size < 3 * MIB; size = size * 2 + 1) {
    char *block = malloc(size), *zeroed = calloc(size, 1), *aligned = memalign(4096, size);
    stamp(block, size, 1);
    CHECK(is_zero(zeroed, size) && is_aligned(aligned, 4096));
    block = realloc(block, size * 2);
    CHECK(holds(block, size, 1));
    free(block);
    free(zeroed);
    free(aligned);
  }
  void *block = malloc(5000);
  stamp(block, 5000, 1);
  join(start_thread(thread, block));
  pid_t child = fork();
  if (child == 0) {
    free(malloc(10000));
    _exit(0);
  }
  expect_clean_exit(child);
  return 0;
}
