/* A thread with a cancellation pending passes through every entry point: none of them is a cancellation point. */
//@ modes=system,preload,static,full,dlopen rows=T03
#include "work.h"

static volatile int survived;

static void *run(void *unused) {
  pthread_cancel(pthread_self());
  reach_every_path(4);
  survived++;
  pthread_testcancel();
  fail("the cancellation was lost");
  return unused;
}

int main(void) {
  for (int i = 0; i < 30; i++) CHECK(join(start_thread(run, NULL)) == PTHREAD_CANCELED);
  CHECK_EQ(survived, 30);
  return 0;
}
