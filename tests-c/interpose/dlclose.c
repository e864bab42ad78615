/* Closing the library leaves it in place: threads that used it end safely, and it opens again with its heap intact. */
//@ modes=dlopen rows=T02
#define TEST_OWN_HANDLE
#include "test.h"

static void *(*hak_allocate)(size_t);
static void (*hak_release)(void *);
static pthread_barrier_t used, closed;

static void open_library(void **library) {
  *library = dlopen(getenv("TEST_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  if (*library == NULL) fail("%s", dlerror());
  *(void **)&hak_allocate = dlsym(*library, "malloc");
  *(void **)&hak_release = dlsym(*library, "free");
}

static void *outlive(void *unused) {
  for (int i = 0; i < 1000; i++) hak_release(hak_allocate((size_t)i * 10));
  pthread_barrier_wait(&used);
  pthread_barrier_wait(&closed);
  return unused; /* the end of the thread calls into the library */
}

int main(void) {
  void *library;
  enum { THREADS = 8 };
  for (int round = 0; round < 20; round++) {
    pthread_t threads[THREADS];
    open_library(&library);
    pthread_barrier_init(&used, NULL, THREADS + 1);
    pthread_barrier_init(&closed, NULL, THREADS + 1);
    char *block = hak_allocate(5000);
    stamp(block, 5000, round);
    for (int i = 0; i < THREADS; i++) threads[i] = start_thread(outlive, NULL);
    pthread_barrier_wait(&used);
    CHECK_EQ(dlclose(library), 0);
    pthread_barrier_wait(&closed);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    pid_t child = fork(); /* so do the fork handlers */
    if (child == 0) _exit(0);
    expect_clean_exit(child);
    open_library(&library);
    CHECK(holds(block, 5000, round));
    hak_release(block);
    dlclose(library);
  }
  return 0;
}
