/* The allocating C entry points as one table: each takes a size and returns a block or NULL with errno set. */
#ifndef ENTRIES_H
#define ENTRIES_H
#include "test.h"

static void *by_malloc(size_t size) { return malloc(size); }
static void *by_calloc_one(size_t size) { return calloc(1, size); }
static void *by_calloc_bytes(size_t size) { return calloc(size, 1); }
static void *by_realloc(size_t size) { return realloc(NULL, size); }
static void *by_reallocarray(size_t size) { return reallocarray(NULL, size, 1); }
static void *by_memalign_16(size_t size) { return memalign(16, size); }
static void *by_memalign_64(size_t size) { return memalign(64, size); }
static void *by_memalign_4k(size_t size) { return memalign(4096, size); }
static void *by_memalign_2m(size_t size) { return memalign(2 * MIB, size); }
static void *by_aligned_alloc(size_t size) { return aligned_alloc(32, size); }
static void *by_posix_memalign(size_t size) {
  void *block = NULL;
  int problem = posix_memalign(&block, 128, size);
  if (problem != 0) errno = problem;
  return problem == 0 ? block : NULL;
}
static void *by_valloc(size_t size) { return valloc(size); }
static void *by_pvalloc(size_t size) { return pvalloc(size); }

static const struct entry {
  const char *name;
  void *(*allocate)(size_t);
  size_t alignment;
} entries[] = {
    {"malloc", by_malloc, 16},
    {"calloc(1, n)", by_calloc_one, 16},
    {"calloc(n, 1)", by_calloc_bytes, 16},
    {"realloc(NULL, n)", by_realloc, 16},
    {"reallocarray(NULL, n, 1)", by_reallocarray, 16},
    {"memalign(16, n)", by_memalign_16, 16},
    {"memalign(64, n)", by_memalign_64, 64},
    {"memalign(4096, n)", by_memalign_4k, 4096},
    {"memalign(2 MiB, n)", by_memalign_2m, 2 * MIB},
    {"aligned_alloc(32, n)", by_aligned_alloc, 32},
    {"posix_memalign(128, n)", by_posix_memalign, 128},
    {"valloc", by_valloc, 4096},
    {"pvalloc", by_pvalloc, 4096},
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

#endif
