/* glibc's area for restartable sequences stays glibc's, with the tunable on and off. */
//@ modes=system,preload,static,dlopen rows=O08
//@ case on env="GLIBC_TUNABLES=glibc.pthread.rseq=1"
//@ case off env="GLIBC_TUNABLES=glibc.pthread.rseq=0"
#include <linux/rseq.h>
#include <sys/syscall.h>

#include "work.h"

extern const unsigned __rseq_size;
extern const ptrdiff_t __rseq_offset;

static void *run(void *unused) {
  reach_every_path(1);
  if (__rseq_size > 0) {
    const struct rseq *area = (const struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    CHECK(area->cpu_id < 4096);
    CHECK_EQ(area->rseq_cs, 0);
  } else {
    /* Nobody else may have taken it: registering one of our own must be possible. */
    static __thread struct rseq own __attribute__((aligned(32)));
    CHECK_EQ(syscall(SYS_rseq, &own, 32, 0, 0x53053053), 0);
    CHECK_EQ(syscall(SYS_rseq, &own, 32, 1, 0x53053053), 0);
  }
  return unused;
}

int main(void) {
  run(NULL);
  join(start_thread(run, NULL));
  return 0;
}
