/* Blocks over 4 GiB work from the first byte to the last; a size the machine can't serve is refused, never truncated. */
//@ modes=system,preload,static,full,dlopen rows=A03,R09 need=ram6 tags=alone
#include "test.h"

/* Touches the page at each GiB and both ends. */
static void touch(char *block, size_t size, char value) {
  block[size - 1] = value;
  for (size_t at = 0; at < size; at += GIB) block[at] = (char)(value + (char)(at >> 30));
}

static void verify(const char *block, size_t size, char value) {
  for (size_t at = 0; at < size; at += GIB) CHECK_EQ(block[at], (char)(value + (char)(at >> 30)));
}

int main(void) {
  static const size_t sizes[] = {4 * GIB - 1, 4 * GIB, 4 * GIB + 1, 5 * GIB + 12345};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    size_t size = sizes[i];
    char *block = malloc(size);
    if (block == NULL) fail("%zu bytes refused", size);
    CHECK_AT_LEAST(malloc_usable_size(block), size);
    touch(block, size, 3);
    verify(block, size, 3);
    block = realloc(block, size + 300 * MIB);
    CHECK(block != NULL);
    verify(block, size, 3);
    block[size + 300 * MIB - 1] = 9;
    block = realloc(block, 2 * GIB + 5);
    CHECK(block != NULL);
    verify(block, 2 * GIB + 5, 3);
    free(block);
    block = calloc(size / 5, 5);
    CHECK(block != NULL);
    for (size_t at = 0; at < size / 5 * 5; at += 64 * MIB) CHECK_EQ(block[at], 0);
    free(block);
    block = memalign(MIB, size);
    CHECK(block != NULL && is_aligned(block, MIB));
    touch(block, size, 5);
    free(block);
  }
  errno = 0;
  char *giant = malloc(65 * GIB);
  if (giant == NULL) {
    CHECK_EQ(errno, ENOMEM);
  } else {
    touch(giant, 65 * GIB, 1);
    verify(giant, 65 * GIB, 1);
    free(giant);
  }
  return 0;
}
