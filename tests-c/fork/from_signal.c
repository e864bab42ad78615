/* A signal handler forks while the thread it interrupted is inside the allocator; the child may use the heap. */
//@ modes=preload,static rows=S03 tags=long timeout=60
//@ case interrupts_malloc args="malloc"
//@ case interrupts_malloc_threads args="threads"
#include "work.h"

static volatile int forks;

static void handler(int number) {
  int saved = errno;
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    for (int i = 0; i < 20; i++) free(keep(malloc((size_t)i * 300)));
    _exit(number == SIGALRM ? 0 : 1);
  }
  expect_clean_exit(child);
  forks++;
  errno = saved;
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  if (strcmp(arguments[1], "threads") == 0) { /* the handler runs in the main thread only */
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    start_work(4);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
  }
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  uint64_t state = 9;
  for (int round = 0; round < length(200, 20000); round++) {
    struct itimerval once = {{0, 0}, {0, 50 + (long)(next_random(&state) % 300)}};
    int before = forks; /* the timer may strike before setitimer returns */
    setitimer(ITIMER_REAL, &once, NULL);
    while (forks == before) {
      void *blocks[20];
      for (int i = 0; i < 20; i++) blocks[i] = malloc(next_random(&state) % 3000);
      for (int i = 0; i < 20; i++) free(blocks[i]);
      free(keep(malloc(200000)));
    }
  }
  end_work();
  return 0;
}
