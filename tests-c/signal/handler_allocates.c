/* A timer interrupts at 10 kHz and its handler uses the heap, whatever the thread was doing in the allocator. */
//@ modes=preload,static,dlopen rows=G01 tags=long timeout=60
//@ case one_by_one args="1 single"
//@ case one_by_one_threads args="4 single"
//@ case undo args="1 undo" env="HAKMEM_CACHE=off"
//@ case undo_threads args="4 undo" env="HAKMEM_CACHE=off"
//@ case exchange args="1 exchange" env="HAKMEM_CACHE=off"
//@ case exchange_threads args="4 exchange" env="HAKMEM_CACHE=off"
#include <sys/syscall.h>

#include "test.h"

enum { SLOTS = 64 };
static void *volatile slots[SLOTS];
static volatile long hits;
static volatile int stop;

/* single: the handler frees each block before it asks for another. undo: it frees them all, last first.
 * exchange: it keeps its blocks and frees those of others. */
static int single, exchange;

static void handler(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  int saved = errno;
  uint64_t state = (uint64_t)__atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED) * 31 + 7;
  void *blocks[4];
  for (int i = 0; i < 4; i++) {
    size_t size = next_random(&state) % ((size_t)1 << (4 + next_random(&state) % 15));
    blocks[i] = i == 0 ? calloc(1, size) : malloc(size);
    CHECK(blocks[i] != NULL);
    if (i == 0) CHECK(is_zero(blocks[i], size));
    memset(blocks[i], 7, size < 100 ? size : 100);
    if (single) free(blocks[i]);
  }
  if (state % 64 == 0) free(keep(realloc(keep(malloc(2 * MIB)), 4 * MIB)));
  for (int i = 3; i >= 0 && !single; i--) {
    if (exchange)
      blocks[i] = __atomic_exchange_n(&slots[next_random(&state) % SLOTS], blocks[i], __ATOMIC_ACQ_REL);
    free(blocks[i]);
  }
  errno = saved;
}

/* A timer of the calling thread's CPU time would stop when it sleeps: use real time, directed at this thread. */
static timer_t start_timer(long nanoseconds) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  struct itimerspec often = {{0, nanoseconds}, {0, nanoseconds}};
  CHECK_EQ(timer_settime(timer, 0, &often, NULL), 0);
  return timer;
}

static void *work(void *argument) {
  uint64_t state = (uintptr_t)argument + 1;
  timer_t timer = start_timer(100000);
  while (!stop) {
    char *blocks[32];
    for (int i = 0; i < 32; i++) {
      size_t size = next_random(&state) % ((size_t)1 << (4 + next_random(&state) % 14));
      blocks[i] = malloc(size + 8);
      CHECK(blocks[i] != NULL);
      stamp(blocks[i], size < 200 ? size : 200, state);
      free(__atomic_exchange_n(&slots[next_random(&state) % SLOTS], malloc(size), __ATOMIC_ACQ_REL));
    }
    for (int i = 0; i < 32; i += 2) CHECK((blocks[i] = realloc(blocks[i], 5000)) != NULL);
    for (int i = 0; i < 32; i++) free(blocks[i]);
    free(keep(malloc(3 * MIB)));
  }
  timer_delete(timer);
  return NULL;
}

static void *wait_for_end(void *unused) {
  sleep_ms(length(2, 60) * 1000);
  stop = 1;
  return unused;
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 3);
  single = strcmp(arguments[2], "single") == 0;
  exchange = strcmp(arguments[2], "exchange") == 0;
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  int threads = atoi(arguments[1]);
  pthread_t worker[8], clock = start_thread(wait_for_end, NULL);
  for (intptr_t i = 1; i < threads; i++) worker[i] = start_thread(work, (void *)i);
  work(NULL);
  for (int i = 1; i < threads; i++) join(worker[i]);
  join(clock);
  dprintf(2, "%ld handlers ran\n", hits);
  CHECK_AT_LEAST(hits, length(2, 60) * 500); /* 10 kHz were asked for; a busy machine loses most of the ticks */
  return 0;
}
