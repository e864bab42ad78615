/* Threads open and close libraries, throw, and walk the loaded objects while others allocate. */
//@ modes=system,preload,static rows=G02,I03 libs=tls_heavy.c
#include "test.h"

#include <link.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<bool> stop;

static void open_and_close() {
  std::string path = std::string(getenv("TEST_LIB_DIR")) + "/tls_heavy.so";
  for (int i = 0; i < 300; i++) {
    void *library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr) fail("%s", dlerror());
    CHECK(dlsym(library, "missing") == nullptr && dlerror() != nullptr);
    dlclose(library);
  }
  stop = true;
}

static int visit(dl_phdr_info *, size_t, void *) {
  free(keep(malloc(300)));
  return 0;
}

static void throw_and_walk() {
  while (!stop) {
    try {
      throw std::runtime_error(std::string(200, 'x'));
    } catch (const std::exception &caught) {
      CHECK_EQ(std::string(caught.what()).size(), 200);
    }
    dl_iterate_phdr(visit, nullptr);
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(throw_and_walk);
  open_and_close();
  for (std::thread &thread : threads) thread.join();
  return 0;
}
