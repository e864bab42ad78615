/* A handler on the smallest alternate stack can allocate: no path of the allocator needs much stack. */
//@ modes=system,preload,static,dlopen rows=G01,S10
#include "test.h"

static volatile int ran;

static void handler(int number) {
  for (size_t size = 1; size < 8 * MIB; size = size * 2 + 1) {
    char *block = calloc(1, size);
    if (block == NULL) _exit(2);
    free(realloc(block, size * 2));
    free(memalign(4096, size));
  }
  ran = number;
}

int main(void) {
  size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048, page = 4096; /* what the kernel's frame leaves: 2 KiB */
  size_t room = (size + page - 1) / page * page;
  char *area = mmap(NULL, room + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK_EQ(mprotect(area + page, room, PROT_READ | PROT_WRITE), 0); /* a guard page below */
  stack_t stack = {.ss_sp = area + page, .ss_size = room};
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1); /* the heap's first call comes from here */
  CHECK_EQ(ran, SIGUSR1);
  return 0;
}
