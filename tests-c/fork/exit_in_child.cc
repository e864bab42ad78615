/* The child leaves by exit: exit handlers, static destructors and stream buffers use a heap forked in full motion. */
//@ modes=system,preload,static,full rows=F01,T06 timeout=120 stdout="^child 0\n(.*\n)*child 99$"
#include "work.h"

#include <map>
#include <string>
#include <vector>

struct Holder {
  std::map<int, std::string> contents;
  ~Holder() {
    std::vector<std::string> more(100, std::string(300, 'y'));
    contents.clear();
  }
};
static Holder holder;

static void at_exit() {
  free(keep(malloc(3 * MIB)));
  reach_every_path(5);
}

int main() {
  for (int i = 0; i < 1000; i++) holder.contents[i] = std::string(static_cast<size_t>(i), 'x');
  atexit(at_exit);
  start_work(4);
  for (int round = 0; round < 100; round++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      work_stop = 1;
      printf("child %d\n", round);
      exit(0);
    }
    expect_clean_exit(child);
  }
  end_work();
  return 0;
}
