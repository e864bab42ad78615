/* aligned_alloc takes any power of two and any size; alignments that are none never yield a misaligned block. */
//@ modes=system,preload,static,full,dlopen rows=A06
#include "test.h"

int main(void) {
  static const size_t accepted[][2] = {{1, 1}, {2, 3}, {4, 4}, {8, 44}, {64, 1}, {64, 0}, {4096, 5}, {32, 33}};
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
    void *block = aligned_alloc(accepted[i][0], accepted[i][1]);
    if (block == NULL) fail("aligned_alloc(%zu, %zu) refused", accepted[i][0], accepted[i][1]);
    CHECK(is_aligned(block, accepted[i][0]));
    free(block);
  }
  static const size_t odd[] = {0, 3, 5, 6, 12, 24, 48, 100, 4097, SIZE_MAX, (size_t)PTRDIFF_MAX + 2};
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    errno = 0;
    void *block = aligned_alloc(odd[i], 100);
    /* glibc before 2.38 rounds the alignment up; later ones, and we, say EINVAL. */
    if (is_hakmem() && block != NULL) fail("aligned_alloc(%zu, 100) succeeded", odd[i]);
    if (block == NULL) CHECK(errno == EINVAL || (!is_hakmem() && errno == ENOMEM));
    if (block != NULL && odd[i] != 0) CHECK((uintptr_t)block % (odd[i] & -odd[i]) == 0);
    free(block);

    errno = 0;
    block = memalign(odd[i], 100);
    if (block == NULL) CHECK(errno == EINVAL || errno == ENOMEM);
    if (block != NULL) CHECK(is_aligned(block, 16) && (odd[i] == 0 || (uintptr_t)block % (odd[i] & -odd[i]) == 0));
    free(block);

    block = &block;
    CHECK_EQ(posix_memalign(&block, odd[i], 100), EINVAL);
    CHECK(block == &block);
  }
  for (size_t small = 1; small < sizeof(void *); small *= 2) {
    void *block = NULL;
    CHECK_EQ(posix_memalign(&block, small, 100), EINVAL);
  }
  void *untouched = &untouched;
  CHECK_EQ(posix_memalign(&untouched, 64, PTRDIFF_MAX), ENOMEM);
  CHECK(untouched == &untouched);
  static const size_t huge[] = {(size_t)1 << 62, (size_t)1 << 63};
  for (int i = 0; i < 2; i++) {
    errno = 0;
    CHECK(aligned_alloc(huge[i], 64) == NULL);
    CHECK(errno == ENOMEM || errno == EINVAL);
  }
  return 0;
}
