/* iostreams, locales and threads in one program, also without any shared object. */
//@ modes=system,preload,static,full rows=I09 stdout="^sum 499500 in a stream\n"
#include "test.h"

#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static std::map<std::string, std::vector<int>> before_main{{"x", std::vector<int>(1000, 1)}};

int main() {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ostringstream text;
  std::thread worker([&] { text << "sum " << std::accumulate(numbers.begin(), numbers.end(), 0) << " in a stream"; });
  worker.join();
  std::cout << text.str() << std::endl;
  CHECK_EQ(before_main["x"].size(), 1000);
  return 0;
}
