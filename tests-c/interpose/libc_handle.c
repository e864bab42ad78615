/* Allocation functions looked up through a handle to libc, or past the next library, can be used as a set. */
//@ modes=system,preload,static rows=M02
#include "test.h"

struct set {
  void *(*allocate)(size_t), *(*zeroed)(size_t, size_t), *(*resize)(void *, size_t), *(*aligned)(size_t, size_t);
  void (*release)(void *);
  size_t (*measure)(void *);
};

static struct set look_up(void *handle) {
  struct set set;
  *(void **)&set.allocate = dlsym(handle, "malloc");
  *(void **)&set.zeroed = dlsym(handle, "calloc");
  *(void **)&set.resize = dlsym(handle, "realloc");
  *(void **)&set.aligned = dlsym(handle, "memalign");
  *(void **)&set.release = dlsym(handle, "free");
  *(void **)&set.measure = dlsym(handle, "malloc_usable_size");
  CHECK(set.allocate && set.zeroed && set.resize && set.aligned && set.release && set.measure);
  return set;
}

static void exercise(struct set set) {
  for (size_t size = 1; size < 4 * MIB; size = size * 3 + 1) {
    char *block = set.allocate(size), *zeroed = set.zeroed(size, 1), *aligned = set.aligned(256, size);
    CHECK(block && zeroed && aligned && is_aligned(aligned, 256) && is_zero(zeroed, size));
    stamp(block, size, 1);
    block = set.resize(block, size * 2);
    CHECK(holds(block, size, 1));
    CHECK_AT_LEAST(set.measure(block), size * 2);
    set.release(block);
    set.release(zeroed);
    set.release(aligned);
  }
}

int main(void) {
  struct set here = look_up(RTLD_DEFAULT);
  void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  CHECK(libc != NULL);
  struct set direct = look_up(libc);
  exercise(here);
  exercise(direct); /* glibc's own heap beside ours: both stay usable */
  exercise(here);
  CHECK(strcmp(home_of((void *)here.allocate), home_of((void *)malloc)) == 0);
  if (mode_is("preload")) {
    /* What a wrapper inside the program finds "next" is the preloaded library. */
    CHECK(dlsym(RTLD_NEXT, "malloc") == (void *)malloc);
    CHECK(strstr(home_of((void *)direct.release), "libc.so") != NULL);
  }
  return 0;
}
