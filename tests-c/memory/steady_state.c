/* The same work over and over reaches a resident size and stays there: nothing leaks on any path. */
//@ modes=system,preload,static,dlopen rows=R02,A09 tags=long timeout=120
#include "work.h"

int main(void) {
  long steady = 0;
  for (int round = 0; round < length(60, 2000); round++) {
    for (int i = 0; i < 4; i++) reach_every_path((uint64_t)(round * 4 + i) + 1);
    if (round == 20) steady = rss_kib();
  }
  CHECK_AT_MOST(rss_kib() - steady, 2 * 1024);
  return 0;
}
