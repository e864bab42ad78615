/* When the program itself has used up the kernel's mappings, requests end in ENOMEM, frees are harmless, and all is
 * well again when mappings are there. */
//@ modes=system,preload,static,dlopen rows=O02 timeout=120
#include "test.h"

enum { MANY = 200000, SMALL = 2000 };
static char *area;
static void *small[SMALL], *large[64];

/* Every second page gets another protection: each is a mapping of its own. */
static void use_up_mappings(void) {
  for (size_t page = 0; page < MANY; page += 2)
    if (mprotect(area + page * 4096, 4096, PROT_READ) != 0) return;
  fail("the kernel set no limit to the mappings");
}

int main(void) {
  for (int i = 0; i < SMALL; i++) stamp(small[i] = malloc(3000), 3000, (uint64_t)i);
  for (int i = 0; i < 64; i++) memset(large[i] = malloc(3 * MIB), 1, 3 * MIB);
  area = mmap(NULL, (size_t)MANY * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(area != MAP_FAILED);
  use_up_mappings();
  for (int i = 0; i < 64; i += 2) {
    errno = 99;
    free(large[i]); /* may need to split a mapping, which can't be done now */
    CHECK_EQ(errno, 99);
  }
  for (int i = 0; i < SMALL; i += 2) free(small[i]);
  long refused = 0;
  for (size_t size = 16; size < 300 * MIB; size = size * 3 + 1) {
    errno = 0;
    char *block = malloc(size);
    if (block == NULL) CHECK_EQ(errno, ENOMEM);
    if (block != NULL) block[size - 1] = 1;
    refused += block == NULL;
    free(block);
  }
  malloc_trim(0);
  prove_sound();
  for (int i = 1; i < SMALL; i += 2) CHECK(holds(small[i], 3000, (uint64_t)i));
  munmap(area, (size_t)MANY * 4096);
  for (int i = 0; i < 64; i += 2) {
    CHECK((large[i] = calloc(1, 3 * MIB)) != NULL);
    CHECK(is_zero(large[i], 3 * MIB));
  }
  for (int i = 0; i < 64; i++) free(large[i]);
  for (int i = 1; i < SMALL; i += 2) free(small[i]);
  return 0;
}
