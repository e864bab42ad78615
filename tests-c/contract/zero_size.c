/* A request of zero bytes gets a block of its own that can be measured, grown and freed. */
//@ modes=system,preload,static,full,dlopen rows=A06,H07
#include "entries.h"

int main(void) {
  for (int e = 0; e < ENTRIES; e++) {
    void *first = entries[e].allocate(0), *second = entries[e].allocate(0);
    if (first == NULL || second == NULL || first == second)
      fail("%s: two requests of 0 bytes gave %p and %p", entries[e].name, first, second);
    CHECK(is_aligned(first, entries[e].alignment));
    stamp(first, malloc_usable_size(first), 1);
    void *grown = realloc(second, 100);
    CHECK(grown != NULL);
    stamp(grown, 100, 2);
    CHECK(holds(first, malloc_usable_size(first), 1));
    free(first);
    free(grown);
  }
  void *none_of_many = calloc(0, SIZE_MAX), *many_of_none = calloc(SIZE_MAX, 0);
  CHECK(none_of_many != NULL && many_of_none != NULL && none_of_many != many_of_none);
  free(none_of_many);
  free(many_of_none);
  return 0;
}
