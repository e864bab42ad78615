/* The program's own fork handlers allocate and free, whether they were registered before or after the allocator's. */
//@ modes=system,preload,static,full rows=S03 timeout=120
//@ case before args="before"
//@ case after args="after"
#include "work.h"

static int prepared, parents;
static void *block;

static void work_a_little(void) {
  for (size_t size = 1; size < 3 * MIB; size = size * 4 + 1) free(keep(malloc(size)));
  block = realloc(block, 100 + (size_t)prepared % 5000);
}
static void prepare(void) {
  prepared++;
  work_a_little();
}
static void in_parent(void) {
  parents++;
  work_a_little();
}
static void in_child(void) { work_a_little(); }

static void register_handlers(void) { CHECK_EQ(pthread_atfork(prepare, in_parent, in_child), 0); }

static void first(int count, char **arguments, char **environment) {
  (void)environment;
  if (count > 1 && strcmp(arguments[1], "before") == 0) register_handlers();
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **, char **) = first;

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  if (strcmp(arguments[1], "after") == 0) register_handlers();
  start_work(6);
  for (int round = 0; round < 80; round++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      reach_every_path(1);
      _exit(0);
    }
    expect_clean_exit(child);
  }
  end_work();
  CHECK_EQ(prepared, 80);
  CHECK_EQ(parents, 80);
  return 0;
}
