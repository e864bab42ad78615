/* When memory runs out, operator new calls the new-handler until it helps, throws, or is gone. */
//@ modes=system,preload,static,full rows=A13,S05
//@ case none args="none"
//@ case frees args="frees"
//@ case throws args="throws"
//@ case removes_itself args="removes"
#include "operators.h"

static const size_t TOO_MUCH = (size_t)PTRDIFF_MAX - 4096;
static int calls;
static bool shortage;

struct OwnFailure : std::bad_alloc {
  const char *what() const noexcept override { return "own failure"; }
};

/* What `make` did with a request that can't be met: 'v'alue, 'n'ull, 'b'ad_alloc, 'o'wn failure. */
static char outcome(const New &make) {
  try {
    return make.allocate(TOO_MUCH) != nullptr ? 'v' : 'n';
  } catch (const OwnFailure &) {
    return 'o';
  } catch (const std::bad_alloc &) {
    return 'b';
  }
}

static void none() {
  for (const New &make : news)
    for (int round = 0; round < 3; round++) CHECK_EQ(outcome(make), make.throws ? 'b' : 'n');
}

static void throws() {
  std::set_new_handler([] {
    calls++;
    throw OwnFailure();
  });
  for (const New &make : news) {
    calls = 0;
    CHECK_EQ(outcome(make), make.throws ? 'o' : 'n'); /* nothrow forms catch what the handler throws */
    CHECK_EQ(calls, 1);
  }
}

static void removes() {
  for (const New &make : news) {
    calls = 0;
    std::set_new_handler([] {
      if (++calls == 3) std::set_new_handler(nullptr);
    });
    CHECK_EQ(outcome(make), make.throws ? 'b' : 'n');
    CHECK_EQ(calls, 3);
  }
}

/* A true shortage: the address space is full, the handler lifts the limit, and new succeeds. */
static void frees() {
  rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY}, tight{300 * MIB, RLIM_INFINITY};
  std::set_new_handler([] {
    calls++;
    CHECK(shortage);
    rlimit lifted{RLIM_INFINITY, RLIM_INFINITY};
    CHECK_EQ(setrlimit(RLIMIT_AS, &lifted), 0);
    shortage = false;
  });
  for (const New &make : news) {
    calls = 0;
    shortage = true;
    CHECK_EQ(setrlimit(RLIMIT_AS, &tight), 0);
    char *block = static_cast<char *>(make.allocate(GIB));
    CHECK_EQ(setrlimit(RLIMIT_AS, &unlimited), 0);
    CHECK(block != nullptr);
    block[GIB - 1] = 1;
    CHECK_EQ(calls, 1);
    (make.aligned ? deletes[6] : deletes[0]).release(block, GIB);
  }
}

int main(int, char **arguments) {
  switch (arguments[1][0]) {
    case 'n': none(); break;
    case 'f': frees(); break;
    case 't': throws(); break;
    default: removes();
  }
  /* Afterwards the heap is as good as before. */
  std::set_new_handler(nullptr);
  for (const New &make : news) {
    void *block = make.allocate(100);
    CHECK(block != nullptr);
    (make.aligned ? deletes[6] : deletes[0]).release(block, 100);
  }
  return 0;
}
