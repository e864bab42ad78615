/* malloc_usable_size refuses a pointer that is no live block. */
//@ modes=preload,static,dlopen rows=H05,H07
//@ case stack args="stack"
//@ case wild args="wild"
//@ case large_interior args="large_interior"
//@ case report args="stack" env="HAKMEM_MISUSE=report"
//@ case ignore args="stack" env="HAKMEM_MISUSE=ignore"
#include "misuse.h"

static void measure(void) { CHECK_EQ(malloc_usable_size(victim), 0); /* when survived: nothing usable there */ }

int main(int count, char **arguments) {
  char on_stack[256];
  CHECK_EQ(count, 2);
  if (strcmp(arguments[1], "large_interior") == 0) {
    char *block = malloc(3 * MIB);
    victim = block + 4096;
    expect_fault(measure, "invalid size query", lies_inside(block), "interior-pointer");
    return 0;
  }
  victim = strcmp(arguments[1], "wild") == 0 ? (void *)(uintptr_t)0xdeadbeef1000 : on_stack;
  expect_fault(measure, "invalid size query", NOT_OURS, "foreign-pointer");
  return 0;
}
