/* Each call that an allocator can do without is refused with EPERM, ENOSYS, ENOMEM: contents, zeroes and errno hold. */
//@ modes=system,preload,static,dlopen rows=O09,A01,A02 timeout=120
//@ case madvise args="madvise"
//@ case mremap args="mremap"
//@ case mprotect args="mprotect"
//@ case munmap args="munmap"
//@ case others args="others"
#include "seccomp.h"

static void refuse(const char *name, int error) {
  unsigned refused = REFUSE(error);
  struct sock_filter others[] = {
      LOAD(nr), ON(SYS_prctl, refused), ON(SYS_getrandom, refused), ON(SYS_clock_gettime, refused), ON(SYS_brk, refused),
      ON(SYS_membarrier, refused), ON(SYS_sched_getaffinity, refused), ON(SYS_getcpu, refused),
      ON(SYS_openat, refused), ON(SYS_readlink, refused), ON(SYS_sysinfo, refused), ON(SYS_prlimit64, refused),
      ON(SYS_rt_sigaction, refused), ON(SYS_get_mempolicy, refused), ON(SYS_mincore, refused), RETURN(SECCOMP_RET_ALLOW)};
  if (strcmp(name, "others") == 0) install(others, sizeof others / sizeof others[0]);
  if (strcmp(name, "madvise") == 0) refuse_call(SYS_madvise, error);
  if (strcmp(name, "mremap") == 0) refuse_call(SYS_mremap, error);
  if (strcmp(name, "mprotect") == 0) refuse_call(SYS_mprotect, error);
  if (strcmp(name, "munmap") == 0) refuse_call(SYS_munmap, error);
}

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
  CHECK_EQ(count, 2);
  for (int e = 0; e < 3; e++) {
    pid_t child = fork();
    if (child == 0) {
      refuse(arguments[1], errors[e]);
      exercise();
      if (strcmp(arguments[1], "mprotect") != 0) join(start_thread(thread, NULL)); /* glibc needs it for a stack */
      _exit(0);
    }
    expect_clean_exit(child);
  }
  return 0;
}
