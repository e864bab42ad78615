/* Children fork again, six deep, each with threads of its own that churn at that moment. */
//@ modes=system,preload,static,dlopen rows=F01 timeout=120
#include "work.h"

static void level(int depth) {
  alarm(60);
  work_stop = 0;
  start_work(3);
  reach_every_path((uint64_t)depth + 1);
  if (depth < 6)
    for (int i = 0; i < 2; i++) {
      pid_t child = fork();
      CHECK(child >= 0);
      if (child == 0) {
        level(depth + 1 + i * 3);
        _exit(0);
      }
      expect_clean_exit(child);
    }
  end_work();
}

int main(void) {
  level(0);
  return 0;
}
