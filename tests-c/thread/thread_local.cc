/* C++ thread_local objects that own memory and allocate while they die leave nothing behind, thread after thread. */
//@ modes=system,preload,static,full rows=T05,T06 tags=long timeout=120
#include "test.h"

#include <string>
#include <vector>

struct Owner {
  std::vector<std::string> texts;
  std::string *late = nullptr;
  ~Owner() {
    late = new std::string(3000, 'z'); /* a heap may be needed again after the thread's own one is gone */
    texts.clear();
    std::vector<char>(100000).swap(junk);
    delete late;
  }
  std::vector<char> junk;
};
static thread_local Owner owner;
static thread_local std::string plain(200, 'p');

static void *run(void *) {
  for (int i = 0; i < 20; i++) owner.texts.emplace_back(static_cast<size_t>(i * 100), 'x');
  plain += "more";
  return nullptr;
}

int main() {
  for (int i = 0; i < 200; i++) join(start_thread(run, nullptr));
  long before = rss_kib();
  for (long i = 0; i < length(4000, 1000000); i++) join(start_thread(run, nullptr));
  CHECK_AT_MOST(rss_kib() - before, 4 * 1024);
  return 0;
}
