/* A static program that uses the corners of the malloc interface links without a clash and has one heap only. */
//@ modes=system,static,full rows=I09,M06
#include <mcheck.h>
#include <netdb.h>

#include "test.h"

void *__libc_malloc(size_t);
void __libc_free(void *);

static void *thread(void *unused) {
  free(__libc_malloc(100));
  __libc_free(malloc(100));
  return unused;
}

int main(void) {
  heap_figures before = mallinfo2();
  char *block = __libc_malloc(10 * MIB);
  CHECK(block != NULL);
  heap_figures after = mallinfo2();
  CHECK_AT_LEAST(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd, 10 * MIB);
  free(block);
  mallopt(M_TOP_PAD, 0);
  malloc_trim(0);
  CHECK_EQ(malloc_info(0, fopen("/dev/null", "w")), 0);
  setenv("MALLOC_TRACE", "/dev/null", 1);
  mtrace();
  free(malloc(10));
  muntrace();
  if (!mode_is("full")) {
    struct addrinfo *found = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &found) == 0) freeaddrinfo(found);
  }
  join(start_thread(thread, NULL));
  pid_t child = fork();
  if (child == 0) {
    for (size_t size = 1; size < 10 * MIB; size = size * 2 + 1) free(keep(malloc(size)));
    _exit(0);
  }
  expect_clean_exit(child);
  return 0;
}
