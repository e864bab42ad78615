/* realloc refuses a pointer that is no live block, before it reads or copies anything. */
//@ modes=preload,static,dlopen rows=H05,H07
//@ case stack args="stack"
//@ case unmapped args="unmapped"
//@ case wild args="wild"
//@ case large_interior args="large_interior"
//@ case freed_large args="freed_large"
//@ case array_stack args="array_stack"
//@ case report_stack args="stack" env="HAKMEM_MISUSE=report"
//@ case ignore_stack args="stack" env="HAKMEM_MISUSE=ignore"
#include "misuse.h"

static void resize(void) {
  errno = 0;
  CHECK(realloc(victim, 100) == NULL); /* when survived, it is a refusal */
}

static void resize_array(void) { CHECK(reallocarray(victim, 10, 10) == NULL); }

int main(int count, char **arguments) {
  char on_stack[256];
  CHECK_EQ(count, 2);
  const char *which = arguments[1];
  if (strcmp(which, "large_interior") == 0) {
    char *block = malloc(3 * MIB);
    victim = block + 4096;
    expect_fault(resize, "invalid realloc", lies_inside(block), "interior-pointer");
    return 0;
  }
  if (strcmp(which, "freed_large") == 0) {
    victim = malloc(3 * MIB);
    const char *what = already_free(victim);
    free(victim);
    expect_fault(resize, "invalid realloc", what, "double-free");
    return 0;
  }
  victim = on_stack;
  if (strcmp(which, "wild") == 0) victim = (void *)(uintptr_t)0xdeadbeef1000;
  if (strcmp(which, "unmapped") == 0) {
    victim = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(victim, MIB);
  }
  expect_fault(strcmp(which, "array_stack") == 0 ? resize_array : resize, "invalid realloc", NOT_OURS, "foreign-pointer");
  return 0;
}
