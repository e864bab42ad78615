/* Handlers that allocate hit threads in their first and last moments, when their heaps come and go. */
//@ modes=preload,static rows=G01,T05 timeout=60
#include "test.h"

static volatile int stop;

static void handler(int number) {
  int saved = errno;
  for (int i = 0; i < 3; i++) free(keep(malloc(100 + (size_t)i * 4000)));
  CHECK_EQ(number, SIGUSR1);
  errno = saved;
}

static pthread_key_t key;
static void destroy(void *value) {
  free(value);
  pthread_kill(pthread_self(), SIGUSR1);
}

static void *brief(void *unused) {
  pthread_kill(pthread_self(), SIGUSR1); /* before the first allocation */
  pthread_setspecific(key, malloc(200));
  for (size_t size = 1; size < 100000; size *= 3) free(keep(malloc(size)));
  return unused;
}

static void *send(void *process) {
  while (!stop) {
    kill((pid_t)(intptr_t)process, SIGUSR1);
    struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
  }
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_key_create(&key, destroy);
  pthread_t sender = start_thread(send, (void *)(intptr_t)getpid());
  for (int round = 0; round < 1000; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(brief, NULL);
    for (int i = 0; i < 4; i++) join(threads[i]);
  }
  stop = 1;
  join(sender);
  return 0;
}
