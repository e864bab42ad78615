/* A long random mix of all entry points: no block overlaps another, contents last, calloc is zero. */
//@ modes=system,preload,static,full,dlopen rows=A02,A04,A11 tags=long
#include "entries.h"

enum { SLOTS = 3000 };

static void *mix(void *argument) {
  uint64_t state = (uintptr_t)argument * 0x9e3779b97f4a7c15u + 1;
  static __thread struct { unsigned char *block; size_t size; uint64_t seed; } slots[SLOTS];
  for (long step = 0; step < length(60000, 20000000); step++) {
    size_t at = next_random(&state) % SLOTS, size = next_random(&state) % ((size_t)1 << (3 + next_random(&state) % 14));
    if (slots[at].block != NULL) {
      CHECK(holds(slots[at].block, slots[at].size, slots[at].seed));
      if (next_random(&state) % 4 == 0 && size > 0) {
        size_t kept = size < slots[at].size ? size : slots[at].size;
        unsigned char *moved = realloc(slots[at].block, size);
        CHECK(moved != NULL && holds(moved, kept, slots[at].seed));
        slots[at].block = moved;
      } else {
        free(slots[at].block);
        slots[at].block = NULL;
        continue;
      }
    } else {
      int form = (int)(next_random(&state) % (size < 2048 ? ENTRIES : 6));
      if (entries[form].alignment > 4096) form = 0;
      slots[at].block = entries[form].allocate(size);
      CHECK(slots[at].block != NULL && is_aligned(slots[at].block, entries[form].alignment));
      if (form == 1 || form == 2) CHECK(is_zero(slots[at].block, size));
    }
    slots[at].size = size;
    slots[at].seed = next_random(&state);
    stamp(slots[at].block, size, slots[at].seed);
  }
  for (int i = 0; i < SLOTS; i++) free(slots[i].block);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++) threads[i] = start_thread(mix, (void *)(i + 1));
  for (int i = 0; i < 4; i++) join(threads[i]);
  prove_sound();
  return 0;
}
