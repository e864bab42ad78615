/* A handler that allocates and raw-forks while the interrupted thread is inside fork itself. */
//@ modes=preload,static rows=S03 tags=long timeout=60
#include "work.h"

static volatile long hits;

static void handler(int number) {
  int saved = errno;
  free(keep(malloc(500)));
  pid_t child = _Fork(); /* the form of fork that a handler may call; it runs no fork handlers */
  if (child == 0) _exit(number == SIGALRM ? 0 : 1);
  if (child > 0) expect_clean_exit(child);
  hits++;
  errno = saved;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval never = {{0, 0}, {0, 0}};
  uint64_t state = 3;
  for (int round = 0; round < length(500, 20000); round++) {
    struct itimerval once = {{0, 0}, {0, 1 + (long)(next_random(&state) % 200)}};
    setitimer(ITIMER_REAL, &once, NULL);
    pid_t child = fork();
    if (child == 0) {
      signal(SIGALRM, SIG_IGN);
      reach_every_path(3);
      _exit(0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    expect_clean_exit(child);
  }
  CHECK_AT_LEAST(hits, 50);
  return 0;
}
