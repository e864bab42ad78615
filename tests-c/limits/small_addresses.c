/* Only a small or a fragmented part of the address space is left: what fits is served, the rest is refused, none aborts. */
//@ modes=system,preload,static rows=O04,O15 timeout=120
//@ case below_39_bits args="39"
//@ case holes args="holes"
#include "test.h"

/* Maps every free range between `from` and `to` that is at least `least` long, leaving `spare` bytes at its end. */
static void occupy(uintptr_t from, uintptr_t to, size_t least, size_t spare) {
  static char text[1 << 20];
  int fd = open("/proc/self/maps", O_RDONLY);
  size_t used = 0;
  for (ssize_t got; used < sizeof text - 1 && (got = read(fd, text + used, sizeof text - 1 - used)) > 0;) used += (size_t)got;
  close(fd);
  uintptr_t end = from;
  for (char *line = text; *line != 0; line = strchr(line, '\n') + 1) {
    char *dash;
    uintptr_t start = strtoul(line, &dash, 16), stop = strtoul(dash + 1, NULL, 16);
    if (start > to) start = to;
    if (start > end && start - end >= least)
      mmap((void *)end, start - end - spare, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (stop > end) end = stop;
  }
  if (to > end) mmap((void *)end, to - end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static void use_all_sizes(size_t most) {
  for (int round = 0; round < 3; round++)
    for (size_t size = 1; size < most; size = size * 3 + 1) {
      char *block = malloc(size);
      if (block == NULL) fail("%zu bytes refused", size);
      stamp(block, size, 1);
      block = realloc(block, size * 2);
      CHECK(block != NULL && holds(block, size, 1));
      free(block);
    }
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  if (strcmp(arguments[1], "39") == 0) {
    occupy((uintptr_t)1 << 38, ((uintptr_t)1 << 47) - 4096, 4096, 0);
    char *low = malloc(50 * MIB); /* what is mapped from now on lies low */
    CHECK(low != NULL && (uintptr_t)low < (uintptr_t)1 << 38);
    use_all_sizes(60 * MIB);
    free(low);
    return 0;
  }
  /* A comb: 50 holes of 8 MiB and nothing else. */
  char *comb = mmap(NULL, 800 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(comb != MAP_FAILED);
  for (int pass = 0; pass < 3; pass++) occupy(65536, ((uintptr_t)1 << 47) - 4096, 4096, 0);
  for (int i = 0; i < 50; i++) munmap(comb + (size_t)i * 16 * MIB + 300 * KIB, 8 * MIB);
  use_all_sizes(100000);
  static void *blocks[100000];
  size_t got = 0, held = 0;
  while (held < 100000 && (blocks[held] = malloc(20000)) != NULL) {
    stamp(blocks[held++], 64, 1);
    got += 20000;
  }
  CHECK_AT_LEAST(got, 200 * MIB); /* half of what the holes have */
  errno = 0;
  CHECK(malloc(64 * MIB) == NULL);
  CHECK_EQ(errno, ENOMEM);
  while (held > 0) free(blocks[--held]);
  use_all_sizes(100000);
  return 0;
}
