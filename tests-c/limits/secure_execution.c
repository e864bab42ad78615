/* In a set-user-id program options from the environment do nothing: no file written, no word said, misuse still fatal. */
//@ modes=static,full rows=H04 need=setuid
#include <sys/auxv.h>
#include <sys/stat.h>

#include "test.h"

static void copy_self(const char *to) {
  static char bytes[1 << 16];
  int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  CHECK(in >= 0 && out >= 0);
  for (ssize_t got; (got = read(in, bytes, sizeof bytes)) > 0;) CHECK_EQ(write(out, bytes, (size_t)got), got);
  CHECK_EQ(fchmod(out, 04755), 0);
  close(out);
}

/* Runs the set-user-id copy as nobody; returns its wait status and what it wrote to stderr. */
static int run(const char *what, char *said, size_t room) {
  int pipes[2], status;
  CHECK_EQ(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 2);
    CHECK_EQ(setgid(65534), 0);
    CHECK_EQ(setuid(65534), 0);
    execl("./privileged", "privileged", what, (char *)NULL);
    fail("exec: %s", strerror(errno));
  }
  close(pipes[1]);
  size_t used = 0;
  for (ssize_t got; used < room - 1 && (got = read(pipes[0], said + used, room - 1 - used)) > 0;) used += (size_t)got;
  said[used] = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  return status;
}

int main(int count, char **arguments) {
  char said[4096], proof[4200], place[4000];
  if (count > 1) { /* the copy */
    CHECK_EQ(getauxval(AT_SECURE), 1);
    CHECK_EQ(geteuid(), 0);
    void *block = malloc(3 * MIB);
    free(block);
    if (strcmp(arguments[1], "misuse") == 0) free(keep(block));
    return 0;
  }
  CHECK(getcwd(place, sizeof place) != NULL);
  snprintf(proof, sizeof proof, "%s/proof", place);
  copy_self("privileged");
  CHECK_EQ(chmod(".", 0777), 0);
  setenv("HAKMEM_PROOF", proof, 1);
  setenv("HAKMEM_DEBUG_VERBOSE", "1", 1);
  setenv("HAKMEM_MISUSE", "ignore", 1);
  setenv("HAKMEM_NO_SUCH_OPTION", "1", 1);
  CHECK_EQ(run("plain", said, sizeof said), 0);
  if (said[0] != 0) fail("the privileged program said: %s", said);
  CHECK(access(proof, F_OK) != 0);
  int status = run("misuse", said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strncmp(said, "hakmem: ", 8) == 0);
  CHECK(access(proof, F_OK) != 0);
  return 0;
}
