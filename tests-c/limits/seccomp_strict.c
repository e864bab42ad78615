/* Behind a filter that kills at every call but the most basic ones, the allocator works. */
//@ modes=system,preload,static,dlopen rows=O09
//@ case from_start modes=preload,static,dlopen args="from_start"
//@ case after_warm_up args="after_warm_up"
#include "seccomp.h"

/* mmap, munmap, mremap-free: what a sandbox grants to a program that only computes. */
static void install_strict(void) {
  struct sock_filter filter[] = {
      LOAD(nr), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_brk), ALLOW(SYS_futex), ALLOW(SYS_write),
      ALLOW(SYS_exit), ALLOW(SYS_exit_group),
      /* madvise: only the advice every sandbox knows */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 4), LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 0, 1), RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_KILL_PROCESS)};
  install(filter, sizeof filter / sizeof filter[0]);
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  if (strcmp(arguments[1], "after_warm_up") == 0)
    for (size_t size = 1; size < 50 * MIB; size = size * 2 + 1) free(keep(malloc(size)));
  install_strict();
  enum { COUNT = 4000 };
  static char *blocks[COUNT];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      size_t size = (size_t)(i * 37) % 9000 + 1;
      CHECK((blocks[i] = i % 3 ? malloc(size) : calloc(1, size)) != NULL);
      if (i % 3 == 0) CHECK(is_zero(blocks[i], size));
      memset(blocks[i], 1, size);
    }
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    for (size_t size = 1; size < 20 * MIB; size = size * 2 + 1) {
      char *block = calloc(1, size);
      CHECK(block != NULL && is_zero(block, size));
      memset(block, 1, size);
      free(block);
      free(memalign(64 * KIB, size));
    }
  }
  _exit(0);
}
