/* Ten thousand heaps come and go, and the table of fork handlers does not grow: registering and forking still work. */
//@ modes=system,preload,static,dlopen rows=F09 timeout=120
#include "test.h"

static void nothing(void) {}
static void *once(void *unused) {
  free(keep(malloc(100)));
  return unused;
}

int main(void) {
  for (int i = 0; i < 10000; i++) join(start_thread(once, NULL));
  double before = seconds();
  for (int i = 0; i < 20; i++) {
    CHECK_EQ(pthread_atfork(nothing, nothing, nothing), 0);
    pid_t child = fork();
    if (child == 0) _exit(0);
    expect_clean_exit(child);
  }
  CHECK(seconds() - before < 10);
  return 0;
}
