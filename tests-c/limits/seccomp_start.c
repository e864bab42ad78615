/* A process that starts behind a filter which refuses every optional call comes up and works. */
//@ modes=system,preload,static rows=O09
//@ case eperm args="1"
//@ case enosys args="38"
#include "seccomp.h"

int main(int count, char **arguments) {
  CHECK_AT_LEAST(count, 2);
  if (count == 2) {
    unsigned error = REFUSE(atoi(arguments[1]));
    struct sock_filter filter[] = {
        LOAD(nr), ON(SYS_getrandom, error), ON(SYS_mremap, error), ON(SYS_madvise, error), ON(SYS_rseq, error),
        ON(SYS_membarrier, error), ON(SYS_sched_getaffinity, error), ON(SYS_getcpu, error),
        ON(SYS_sysinfo, error), ON(SYS_get_mempolicy, error), ON(SYS_clock_gettime, error), ON(SYS_getcwd, error),
        ON(SYS_sigaltstack, error), ON(SYS_rt_sigaction, error), ON(SYS_readlink, error), ON(SYS_prlimit64, error),
        RETURN(SECCOMP_RET_ALLOW)};
    install(filter, sizeof filter / sizeof filter[0]);
    execl("/proc/self/exe", arguments[0], arguments[1], "filtered", (char *)NULL);
    fail("exec: %s", strerror(errno));
  }
  for (size_t size = 1; size < 30 * MIB; size = size * 2 + 1) {
    char *block = calloc(1, size);
    CHECK(block != NULL && is_zero(block, size));
    memset(block, 1, size);
    CHECK((block = realloc(block, size * 2)) != NULL);
    free(block);
  }
  return 0;
}
