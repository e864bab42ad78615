/* A process confined to the highest CPU sees one CPU with a number beyond the count; threads on it work and stay small. */
//@ modes=system,preload,static,dlopen rows=O11
#include <sched.h>

#include "work.h"

int main(void) {
  cpu_set_t all, last;
  CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  int highest = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all)) highest = cpu;
  CPU_ZERO(&last);
  CPU_SET(highest, &last);
  CHECK_EQ(sched_setaffinity(0, sizeof last, &last), 0);
  start_work(8);
  reach_every_path(1);
  sleep_ms(300);
  end_work();
  return 0;
}
