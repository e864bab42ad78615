/* A library whose constructor runs before that of the allocator when it stands after it in LD_PRELOAD. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *early_block;
static pthread_t early_thread;
static volatile int stop;

static void *churn(void *unused) {
  while (!stop)
    for (size_t size = 1; size < 3000000; size = size * 3 + 1) free(malloc(size));
  return unused;
}

/* Forks while a thread that was started here allocates. */
__attribute__((constructor)) static void early(void) {
  free(NULL);
  early_block = strcpy(calloc(1, 100), "early");
  if (pthread_create(&early_thread, NULL, churn, NULL) != 0) abort();
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (size_t size = 1; size < 3000000; size = size * 3 + 1) free(malloc(size));
      _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
  }
}

/* Runs after main and, for a library that was initialised early, late. */
__attribute__((destructor)) static void late(void) {
  stop = 1;
  pthread_join(early_thread, NULL);
  free(early_block);
  free(malloc(100));
}
