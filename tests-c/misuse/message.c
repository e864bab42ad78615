/* The message is one write, needs no heap, keeps errno, and the abort reaches the program's own crash reporter. */
//@ modes=preload,static,dlopen rows=H05
//@ case one_write args="one_write"
//@ case no_stderr args="no_stderr" signal=ABRT
//@ case errno_kept args="errno_kept" env="HAKMEM_MISUSE=report" stderr="^hakmem: invalid free: pointer 0x[0-9a-f]+ is not a block"
//@ case reporter_allocates args="reporter_allocates" exit=7 stderr="^hakmem: invalid free: .*\nreported"
//@ case in_thread args="in_thread" signal=ABRT stderr="^hakmem: double free: pointer 0x"
//@ case bad_policy args="errno_kept" env="HAKMEM_MISUSE=perhaps" signal=ABRT stderr="HAKMEM_MISUSE.*(abort.*report.*ignore|perhaps)"
#include "misuse.h"

static void misuse(void) {
  char on_stack[64];
  free(keep(on_stack));
}

static void one_write(void) {
  int pipes[2];
  char packet[4096];
  CHECK_EQ(pipe2(pipes, O_DIRECT), 0); /* packet mode: a read returns one write */
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 2);
    misuse();
    _exit(0);
  }
  close(pipes[1]);
  ssize_t got = read(pipes[0], packet, sizeof packet);
  CHECK_AT_LEAST(got, 40);
  CHECK(strncmp(packet, "hakmem: invalid free: pointer 0x", 32) == 0);
  CHECK_EQ(packet[got - 1], '\n');
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
}

/* A crash reporter that uses the heap as real ones do. */
static void reporter(int number) {
  char *text = malloc(100000);
  CHECK(text != NULL && number == SIGABRT);
  for (int i = 0; i < 1000; i++) free(malloc((size_t)i * 7));
  strcpy(text, "reported\n");
  CHECK_EQ(write(2, text, 9), 9);
  free(text);
  _exit(7);
}

static void *double_free(void *unused) {
  void *block = malloc(4 * MIB);
  free(block);
  free(keep(block));
  return unused;
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  const char *which = arguments[1];
  if (strcmp(which, "one_write") == 0) one_write();
  if (strcmp(which, "no_stderr") == 0) {
    close(2);
    misuse();
  }
  if (strcmp(which, "errno_kept") == 0) {
    errno = 4321;
    misuse();
    CHECK_EQ(errno, 4321);
  }
  if (strcmp(which, "reporter_allocates") == 0) {
    signal(SIGABRT, reporter);
    misuse();
  }
  if (strcmp(which, "in_thread") == 0) join(start_thread(double_free, NULL));
  return 0;
}
