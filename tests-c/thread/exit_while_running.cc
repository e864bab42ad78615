/* The process ends while threads allocate and free: static objects die, nothing crashes or hangs. */
//@ modes=system,preload,static,full rows=T06
//@ case by_return args="return" exit=5
//@ case by_exit args="exit" exit=5
//@ case by_quick_exit args="quick" exit=5
//@ case by_thread args="thread" exit=5
#include "work.h"

#include <map>
#include <string>

struct Registry {
  std::map<int, std::string> entries;
  Registry() {
    for (int i = 0; i < 2000; i++) entries[i] = std::string(static_cast<size_t>(i), 'x');
  }
  ~Registry() {
    entries.clear();
    free(keep(malloc(3 * MIB)));
    sleep_ms(30);
  }
};
static Registry first;

static void *leave(void *) {
  free(keep(malloc(100)));
  exit(5);
}

int main(int, char **arguments) {
  static Registry second;
  start_work(8);
  sleep_ms(30);
  switch (arguments[1][0]) {
    case 'e': exit(5);
    case 'q': quick_exit(5);
    case 't': join(start_thread(leave, nullptr)); break;
    default: return 5;
  }
}
