/* mallinfo, mallinfo2, malloc_info and malloc_stats describe the heap that serves the program, not an empty one. */
//@ modes=system,preload,static,full,dlopen rows=M06
#include "test.h"

int main(void) {
  enum { COUNT = 1000 };
  static void *blocks[COUNT];
  heap_figures before = mallinfo2();
  for (int i = 0; i < COUNT; i++) CHECK((blocks[i] = malloc(5000)) != NULL);
  void *large = malloc(50 * MIB);
  CHECK(large != NULL);
  heap_figures during = mallinfo2();
  size_t rise = during.uordblks + during.hblkhd - before.uordblks - before.hblkhd;
  CHECK_AT_LEAST(rise, COUNT * 5000 + 50 * MIB);
  CHECK_AT_MOST(rise, COUNT * 6500 + 60 * MIB);
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  free(large);
  heap_figures after = mallinfo2();
  CHECK_AT_MOST(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + MIB);

  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  CHECK(stream != NULL);
  CHECK_EQ(malloc_info(0, stream), 0);
  CHECK_EQ(fclose(stream), 0);
  CHECK(strncmp(text, "<malloc version=", 16) == 0);
  CHECK(strstr(text, "</malloc>") != NULL);
  CHECK(strstr(text, "<heap") != NULL);
#ifndef TEST_THROUGH_HANDLE
  free(text);
#endif
  errno = 0;
  CHECK(malloc_info(1, stdout) != 0);

  CHECK(mallopt(M_ARENA_MAX, 2) == 1);
  CHECK(mallopt(M_MMAP_THRESHOLD, 128 * 1024) == 1);
  CHECK(mallopt(M_TRIM_THRESHOLD, 1 << 20) == 1);
  int trimmed = malloc_trim(0);
  CHECK(trimmed == 0 || trimmed == 1);
  return 0;
}
