/* A program moves from one size to another, leaving 5 % of the old blocks behind: the space is used again. */
//@ modes=system,preload,static rows=R08,R09 tags=alone timeout=120
#include "test.h"

enum { OLD = 129, NEW = 640, TOTAL = 128 << 20 };
static void *old_blocks[TOTAL / OLD], *new_blocks[TOTAL / NEW];

int main(void) {
  memset(old_blocks, 0, sizeof old_blocks);
  memset(new_blocks, 0, sizeof new_blocks);
  long before = rss_kib();
  uint64_t state = 3;
  for (int i = 0; i < TOTAL / OLD; i++) memset(old_blocks[i] = malloc(OLD), 1, OLD);
  for (int i = 0; i < TOTAL / OLD; i++)
    if (next_random(&state) % 20 != 0) {
      free(old_blocks[i]);
      old_blocks[i] = NULL;
    }
  for (int i = 0; i < TOTAL / NEW; i++) memset(new_blocks[i] = malloc(NEW), 1, NEW);
  long rise = rss_kib() - before;
  dprintf(2, "resident %ld MiB\n", rise / 1024);
  /* 128 MiB of the new size, and what the survivors pin. No allocator with slabs does better than 260 MiB; the smaller
     classes' rounding (129 to 160 bytes) costs us 30 MiB more. */
  CHECK_AT_MOST(rise, (mode_is("system") ? 190 : 300) * 1024);
  for (int i = 0; i < TOTAL / OLD; i++) free(old_blocks[i]);
  for (int i = 0; i < TOTAL / NEW; i++) free(new_blocks[i]);
  CHECK_AT_MOST(rss_kib() - before, 64 * 1024);
  return 0;
}
