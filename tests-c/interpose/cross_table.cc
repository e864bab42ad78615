/* Whatever allocates, anything may release: C, C23, all new and delete, glibc's underscored names, realloc. */
//@ modes=system,preload,static rows=M03,M06,A07
#include "operators.h"

#include "entries.h"

#include <vector>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t);
void *__libc_pvalloc(size_t);
void __libc_free(void *);
/* In glibc these two are there for old programs only. */
int __posix_memalign(void **, size_t, size_t) __attribute__((weak));
void cfree(void *) __attribute__((weak));
}

struct Source {
  const char *name;
  void *(*allocate)(size_t);
};
struct Sink {
  const char *name;
  void (*release)(void *, size_t);
};

static std::vector<Source> sources() {
  std::vector<Source> all;
  for (const entry &one : entries) all.push_back({one.name, one.allocate});
  for (const New &one : news) all.push_back({one.name, one.allocate});
  all.push_back({"__libc_malloc", __libc_malloc});
  all.push_back({"__libc_calloc", [](size_t n) { return __libc_calloc(1, n); }});
  all.push_back({"__libc_realloc", [](size_t n) { return __libc_realloc(nullptr, n); }});
  all.push_back({"__libc_memalign", [](size_t n) { return __libc_memalign(64, n); }});
  all.push_back({"__libc_valloc", __libc_valloc});
  all.push_back({"__libc_pvalloc", __libc_pvalloc});
  if (__posix_memalign != nullptr)
    all.push_back({"__posix_memalign", [](size_t n) {
                     void *block = nullptr;
                     return __posix_memalign(&block, 256, n) == 0 ? block : nullptr;
                   }});
  return all;
}

static std::vector<Sink> sinks() {
  std::vector<Sink> all;
  for (const Delete &one : deletes)
    all.push_back({one.name, one.release});
  all.push_back({"free", [](void *p, size_t) { free(p); }});
  all.push_back({"__libc_free", [](void *p, size_t) { __libc_free(p); }});
  all.push_back({"realloc to 0", [](void *p, size_t) { CHECK(realloc(p, 0) == nullptr); }});
  all.push_back({"realloc, free", [](void *p, size_t n) { free(realloc(p, n * 2 + 10)); }});
  all.push_back({"__libc_realloc, free", [](void *p, size_t n) { free(__libc_realloc(p, n + 1)); }});
  all.push_back({"reallocarray, delete", [](void *p, size_t n) { ::operator delete(reallocarray(p, n + 1, 3)); }});
  if (cfree != nullptr) all.push_back({"cfree", [](void *p, size_t) { cfree(p); }});
  if (free_sized != nullptr) all.push_back({"free_sized", [](void *p, size_t n) { free_sized(p, n); }});
  if (free_aligned_sized != nullptr)
    all.push_back({"free_aligned_sized", [](void *p, size_t n) { free_aligned_sized(p, 16, n); }});
  return all;
}

int main() {
  static const size_t sizes[] = {0, 1, 24, 100, 1000, 1024, 1025, 5000, 100000, 2 * MIB + 1};
  int pairs = 0;
  for (const Source &source : sources())
    for (const Sink &sink : sinks()) {
      for (size_t size : sizes) {
        char *block = static_cast<char *>(source.allocate(size));
        if (block == nullptr) fail("%s: %zu bytes refused", source.name, size);
        stamp(block, size < 2000 ? size : 2000, size);
        CHECK(holds(block, size < 2000 ? size : 2000, size));
        CHECK_AT_LEAST(malloc_usable_size(block), size);
        sink.release(block, size);
      }
      pairs++;
    }
  CHECK_AT_LEAST(pairs, 27 * 18);
  if (is_hakmem()) {
    CHECK_EQ(pairs, 28 * 21);
    /* glibc's own heap must have stayed empty through all of this. */
    struct mallinfo2 (*glibc_figures)(void);
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    CHECK(libc != nullptr);
    *(void **)&glibc_figures = dlsym(libc, "mallinfo2");
    struct mallinfo2 figures = glibc_figures();
    CHECK_EQ(figures.arena + figures.hblkhd, 0);
  }
  return 0;
}
