/* System-call filters, written as BPF by hand: kill at anything unknown, or refuse some calls with an errno. */
#ifndef SECCOMP_H
#define SECCOMP_H
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "test.h"

#define FIELD(name) ((unsigned)offsetof(struct seccomp_data, name))
#define LOAD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(name))
#define RETURN(verdict) BPF_STMT(BPF_RET | BPF_K, (verdict))
/* Ends with `verdict` if the call is `number`. */
#define ON(number, verdict) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), RETURN(verdict)
#define ALLOW(number) ON(number, SECCOMP_RET_ALLOW)
#define REFUSE(error) (SECCOMP_RET_ERRNO | (unsigned)(error))

static inline void install(struct sock_filter *filter, size_t count) {
  struct sock_fprog program = {(unsigned short)count, filter};
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Makes one call fail with `error`, for this thread and all it starts; everything else goes through. */
static inline void refuse_call(int number, int error) {
  struct sock_filter filter[] = {LOAD(nr), ON((unsigned)number, REFUSE(error)), RETURN(SECCOMP_RET_ALLOW)};
  install(filter, sizeof filter / sizeof filter[0]);
}

#endif
