/* A crash in the middle of the program's own code: the reporter allocates, formats, and leaves as it wants. */
//@ modes=system,preload,static,dlopen rows=G01 exit=9 stdout="^report 499500\n"
#include "work.h"

static void report(int number) {
  (void)number;
  long sum = 0;
  int *numbers = malloc(1000 * sizeof *numbers);
  for (int i = 0; i < 1000; i++) numbers[i] = i;
  for (int i = 0; i < 1000; i++) sum += numbers[i];
  free(numbers);
  reach_every_path(3);
  char *text = malloc(100);
  int size = snprintf(text, 100, "report %ld\n", sum);
  CHECK_EQ(write(1, text, (size_t)size), size);
  free(text);
  _exit(9);
}

int main(void) {
  signal(SIGSEGV, report);
  start_work(4);
  sleep_ms(20);
  *(volatile int *)8 = 1;
  return 0;
}
