/* The library opens at run time after 20 libraries that use thread-local storage, and after threads exist. */
//@ modes=dlopen rows=T01,S10 libs=tls_heavy.c
#define TEST_OWN_HANDLE
#include "test.h"

static void *(*hak_allocate)(size_t);
static void (*hak_release)(void *);
static pthread_barrier_t opened;

static void *use(void *unused) {
  pthread_barrier_wait(&opened);
  for (size_t size = 1; size < 5 * MIB; size = size * 3 + 1) {
    char *block = hak_allocate(size);
    CHECK(block != NULL);
    stamp(block, size, 1);
    CHECK(holds(block, size, 1));
    hak_release(block);
  }
  return unused;
}

int main(void) {
  char name[64], command[8300];
  pthread_t before;
  pthread_barrier_init(&opened, NULL, 2);
  before = start_thread(use, NULL); /* its thread-local block was laid out before the library came */
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "./tls%d.so", i);
    snprintf(command, sizeof command, "cp '%s/tls_heavy.so' '%s'", getenv("TEST_LIB_DIR"), name);
    CHECK_EQ(system(command), 0);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail("%s", dlerror());
    int (*touch)(int);
    *(void **)&touch = dlsym(library, "tls_heavy_touch");
    CHECK_EQ(touch(i), i);
  }
  void *library = dlopen(getenv("TEST_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail("%s", dlerror());
  *(void **)&hak_allocate = dlsym(library, "malloc");
  *(void **)&hak_release = dlsym(library, "free");
  CHECK(strcmp(home_of((void *)hak_allocate), getenv("TEST_LIBRARY")) == 0);
  pthread_barrier_wait(&opened);
  join(before);
  pthread_barrier_init(&opened, NULL, 1);
  join(start_thread(use, NULL));
  return 0;
}
