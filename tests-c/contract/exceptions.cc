/* bad_alloc travels through the program's own runtime: caught by type, nested, and from many threads. */
//@ modes=system,preload,static,full rows=A13
#include "test.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static void throw_often() {
  for (int i = 0; i < 2000; i++) {
    std::vector<std::string> survivors(20, std::string(50, 'x'));
    try {
      try {
        std::vector<char> impossible;
        impossible.reserve(PTRDIFF_MAX);
        fail("a vector of PTRDIFF_MAX bytes");
      } catch (const std::bad_alloc &) {
        std::throw_with_nested(std::runtime_error("outer"));
      }
    } catch (const std::exception &outer) {
      CHECK(std::string(outer.what()) == "outer");
      try {
        std::rethrow_if_nested(outer);
        fail("nothing nested");
      } catch (const std::bad_alloc &inner) {
        CHECK(std::string(inner.what()) == "std::bad_alloc");
      }
    }
    CHECK(survivors[19] == std::string(50, 'x'));
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(throw_often);
  for (std::thread &thread : threads) thread.join();
  return 0;
}
