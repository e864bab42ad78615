/* Under an address-space limit the program starts, is served most of the limit, told ENOMEM at its end, and recovers:
 * what one size gave back is there for another. */
//@ modes=system,preload,static,full rows=O01,S07,R10 timeout=120
//@ case as_64m args="as 64"
//@ case as_200m args="as 200"
//@ case as_1g args="as 1024" modes=preload,static
//@ case data_64m args="data 64"
//@ case data_200m args="data 200" modes=preload,static
#include "test.h"

static size_t fill(size_t size, void ***chain) {
  size_t got = 0;
  void **block;
  errno = 0;
  while ((block = malloc(size)) != NULL) {
    memset(block, 0x11, size);
    *block = *chain;
    *chain = block;
    got += size;
  }
  CHECK_EQ(errno, ENOMEM);
  return got;
}

static void drop(void **chain) {
  while (chain != NULL) {
    void **next = *chain;
    free(chain);
    chain = next;
  }
}

int main(int count, char **arguments) {
  CHECK_AT_LEAST(count, 3);
  size_t limit = strtoul(arguments[2], NULL, 10) * MIB;
  if (count == 3) { /* start again under the limit */
    struct rlimit bound = {limit, limit};
    CHECK_EQ(setrlimit(strcmp(arguments[1], "as") == 0 ? RLIMIT_AS : RLIMIT_DATA, &bound), 0);
    execl("/proc/self/exe", arguments[0], arguments[1], arguments[2], "limited", (char *)NULL);
    fail("exec: %s", strerror(errno));
  }
  static const size_t sizes[] = {64, 5000, 100, 300000, 1000, 3 * MIB, 40000, 64};
  size_t taken = strcmp(arguments[1], "as") == 0 ? 16 * MIB : 2 * MIB; /* program, libraries, stacks */
  for (int round = 0; round < (limit < GIB ? 8 : 3); round++) {
    void **chain = NULL;
    size_t got = fill(sizes[round], &chain);
    size_t least = (limit - taken) / 10 * 7;
    if (got < least)
      fail("round %d: %zu bytes in blocks of %zu, expected %zu of a limit of %zu", round, got, sizes[round], least, limit);
    prove_sound();
    drop(chain);
    prove_sound();
    /* Everything works again, through every door. */
    char *text = strdup("again");
    CHECK(text != NULL && strcmp(text, "again") == 0);
    free(text);
    char *block = realloc(calloc(1, MIB), 2 * MIB);
    CHECK(block != NULL && block[MIB - 1] == 0);
    free(block);
  }
  return 0;
}
