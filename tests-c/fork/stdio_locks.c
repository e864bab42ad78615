/* Threads hold stream locks while they allocate, others fork: stream locks and heap locks never wait for each other. */
//@ modes=system,preload,static rows=S03,F04 timeout=120
#include "test.h"

static volatile int stop;

static void *print(void *unused) {
  while (!stop) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size), *null = fopen("/dev/null", "w");
    for (int i = 0; i < 200; i++) fprintf(stream, "%d %s", i, "text");
    fclose(stream);
    fputs(text, null);
    fclose(null);
    free(text);
    fflush(NULL); /* takes the lock of every stream */
  }
  return unused;
}

static void *trim(void *unused) {
  while (!stop) {
    free(keep(malloc(3 * MIB)));
    malloc_trim(0);
  }
  return unused;
}

int main(void) {
  pthread_t threads[5];
  for (int i = 0; i < 4; i++) threads[i] = start_thread(print, NULL);
  threads[4] = start_thread(trim, NULL);
  for (int round = 0; round < 150; round++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      char *text = NULL;
      CHECK(asprintf(&text, "%d", round) > 0);
      free(text);
      fflush(NULL);
      FILE *file = fopen("/proc/self/maps", "r");
      size_t room = 0;
      text = NULL;
      while (getline(&text, &room, file) > 0) {
      }
      exit(0);
    }
    expect_clean_exit(child);
  }
  stop = 1;
  for (int i = 0; i < 5; i++) join(threads[i]);
  return 0;
}
