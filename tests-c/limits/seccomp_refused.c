/* Each call that an allocator can do without is refused with EPERM, ENOSYS, ENOMEM: contents, zeroes and errno hold. */
//@ modes=system,preload,static,dlopen rows=O09,A01,A02 timeout=120
//@ case madvise args="madvise"
//@ case mremap args="mremap"
//@ case prctl args="prctl"
//@ case mprotect args="mprotect"
//@ case munmap args="munmap"
//@ case getrandom args="getrandom"
//@ case clock args="clock"
//@ case membarrier args="membarrier"
//@ case rseq args="rseq"
//@ case scheduler args="scheduler"
//@ case files args="files"
//@ case brk args="brk"
#include "seccomp.h"

static const struct { const char *name; int number; } calls[] = {
    {"madvise", SYS_madvise}, {"mremap", SYS_mremap}, {"prctl", SYS_prctl}, {"mprotect", SYS_mprotect},
    {"munmap", SYS_munmap}, {"getrandom", SYS_getrandom}, {"clock", SYS_clock_gettime}, {"membarrier", SYS_membarrier},
    {"rseq", SYS_rseq}, {"scheduler", SYS_sched_getaffinity}, {"files", SYS_openat}, {"brk", SYS_brk},
};

static void exercise(void) {
  enum { COUNT = 300 };
  static const size_t sizes[] = {8, 100, 1000, 5000, 40000, 300000, 3 * MIB, 12 * MIB};
  static char *blocks[COUNT];
  for (int round = 0; round < 2; round++)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      size_t size = sizes[s];
      int together = size > MIB ? 2 : size > 10000 ? 10 : COUNT;
      for (int i = 0; i < together; i++) {
        CHECK((blocks[i] = calloc(1, size)) != NULL);
        CHECK(is_zero(blocks[i], size));
        memset(blocks[i], 0xee, malloc_usable_size(blocks[i]));
      }
      for (int i = 0; i < together; i++) {
        errno = 1234;
        free(blocks[i]);
        CHECK_EQ(errno, 1234);
      }
      errno = 1235;
      malloc_trim(0);
      char *block = malloc(size);
      CHECK(block != NULL);
      stamp(block, size, s);
      block = realloc(block, size * 2);
      CHECK(block != NULL && holds(block, size, s));
      block = realloc(block, size / 2);
      CHECK(block != NULL && holds(block, size / 2, s));
      free(block);
      block = memalign(2 * MIB, size);
      CHECK(block != NULL && is_aligned(block, 2 * MIB));
      free(block);
    }
}

static void *thread(void *unused) {
  exercise();
  return unused;
}

int main(int count, char **arguments) {
  static const int errors[] = {EPERM, ENOSYS, ENOMEM};
  CHECK_AT_LEAST(count, 2);
  for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
    for (size_t e = 0; strcmp(calls[c].name, arguments[1]) == 0 && e < sizeof errors / sizeof errors[0]; e++) {
      pid_t child = fork();
      if (child == 0) {
        refuse_call(calls[c].number, errors[e]);
        exercise();
        if (calls[c].number != SYS_mprotect && calls[c].number != SYS_rseq)
          join(start_thread(thread, NULL)); /* glibc itself needs these two for a thread */
        _exit(0);
      }
      expect_clean_exit(child);
    }
  return 0;
}
