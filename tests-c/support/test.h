/* What every case shares: checks that never allocate, and the proof of which allocator is under test. */
#ifndef TEST_H
#define TEST_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

#ifdef __cplusplus
extern "C" {
#endif
const char *hak_version(void) __attribute__((weak));
int hak_check(void) __attribute__((weak));
void free_sized(void *, size_t) __attribute__((weak));
void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* ---- checks ---- */

__attribute__((format(printf, 1, 2), noreturn, unused)) static void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vdprintf(2, format, list);
  dprintf(2, "\n");
  _exit(1);
}

#define CHECK(condition) \
  do { \
    if (!(condition)) fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition); \
  } while (0)

#define CHECK_EQ(left, right) \
  do { \
    long long l_ = (long long)(left), r_ = (long long)(right); \
    if (l_ != r_) fail("%s:%d: %s is %lld (%#llx), not %s = %lld", __FILE__, __LINE__, #left, l_, l_, #right, r_); \
  } while (0)

#define CHECK_AT_MOST(value, bound) \
  do { \
    long long v_ = (long long)(value), b_ = (long long)(bound); \
    if (v_ > b_) fail("%s:%d: %s is %lld, more than %s = %lld", __FILE__, __LINE__, #value, v_, #bound, b_); \
  } while (0)

#define CHECK_AT_LEAST(value, bound) \
  do { \
    long long v_ = (long long)(value), b_ = (long long)(bound); \
    if (v_ < b_) fail("%s:%d: %s is %lld, less than %s = %lld", __FILE__, __LINE__, #value, v_, #bound, b_); \
  } while (0)

/* ---- the allocator under test ---- */

static inline int mode_is(const char *name) {
  const char *mode = getenv("TEST_MODE");
  return mode != NULL && strcmp(mode, name) == 0;
}

/* True unless glibc itself is under test: for promises that only hakmem makes. */
static inline int is_hakmem(void) { return !mode_is("system") && !mode_is("peer"); }

typedef struct mallinfo2 heap_figures;

/* A case that opens the library itself defines TEST_OWN_HANDLE. */
#if defined TEST_DLOPEN && !defined TEST_OWN_HANDLE
#define TEST_THROUGH_HANDLE
/* The case calls these through the handle of the opened library; the rest of the process stays on glibc. */
static struct {
  void *handle;
  void *(*malloc)(size_t), *(*calloc)(size_t, size_t), *(*realloc)(void *, size_t);
  void *(*reallocarray)(void *, size_t, size_t), *(*memalign)(size_t, size_t), *(*aligned_alloc)(size_t, size_t);
  void *(*valloc)(size_t), *(*pvalloc)(size_t);
  int (*posix_memalign)(void **, size_t, size_t), (*malloc_trim)(size_t), (*mallopt)(int, int);
  void (*free)(void *), (*cfree)(void *), (*free_sized)(void *, size_t), (*free_aligned_sized)(void *, size_t, size_t);
  size_t (*malloc_usable_size)(void *);
  heap_figures (*mallinfo2)(void);
  int (*malloc_info)(int, FILE *), (*hak_check)(void);
} under_test;

#define TEST_LOOK_UP(name) \
  if ((*(void **)&under_test.name = dlsym(under_test.handle, #name)) == NULL) fail("%s", dlerror())

__attribute__((constructor(101))) static void open_under_test(void) {
  under_test.handle = dlopen(getenv("TEST_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  if (under_test.handle == NULL) fail("%s", dlerror());
  TEST_LOOK_UP(malloc);
  TEST_LOOK_UP(calloc);
  TEST_LOOK_UP(realloc);
  TEST_LOOK_UP(reallocarray);
  TEST_LOOK_UP(memalign);
  TEST_LOOK_UP(aligned_alloc);
  TEST_LOOK_UP(valloc);
  TEST_LOOK_UP(pvalloc);
  TEST_LOOK_UP(posix_memalign);
  TEST_LOOK_UP(malloc_trim);
  TEST_LOOK_UP(mallopt);
  TEST_LOOK_UP(free);
  TEST_LOOK_UP(cfree);
  TEST_LOOK_UP(free_sized);
  TEST_LOOK_UP(free_aligned_sized);
  TEST_LOOK_UP(malloc_usable_size);
  TEST_LOOK_UP(mallinfo2);
  TEST_LOOK_UP(malloc_info);
  TEST_LOOK_UP(hak_check);
}

#define malloc under_test.malloc
#define calloc under_test.calloc
#define realloc under_test.realloc
#define reallocarray under_test.reallocarray
#define memalign under_test.memalign
#define aligned_alloc under_test.aligned_alloc
#define valloc under_test.valloc
#define pvalloc under_test.pvalloc
#define posix_memalign under_test.posix_memalign
#define malloc_trim under_test.malloc_trim
#define mallopt under_test.mallopt
#define free under_test.free
#define cfree under_test.cfree
#define free_sized under_test.free_sized
#define free_aligned_sized under_test.free_aligned_sized
#define malloc_usable_size under_test.malloc_usable_size
#define mallinfo2 under_test.mallinfo2
#define malloc_info under_test.malloc_info
#define hak_check under_test.hak_check
#endif

/* The file that holds the code at `function`, "" when no shared object does. */
static inline const char *home_of(const void *function) {
  Dl_info info;
  return dladdr(function, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

/* What the name is bound to for the program and its libraries; the address in a program may be a mere stub. */
static inline const void *bound(const char *name, const void *here) {
#ifdef TEST_THROUGH_HANDLE
  (void)name;
  return here;
#else
  return mode_is("full") ? here : dlsym(RTLD_DEFAULT, name);
#endif
}

/* Fails unless malloc and free are bound where TEST_MODE says. Runs before main in every case. */
__attribute__((constructor, unused)) static void prove_allocator(void) {
  const char *mode = getenv("TEST_MODE"), *library = getenv("TEST_LIBRARY");
  if (mode == NULL) fail("TEST_MODE is not set: run this through tests-c/run.py");
  const void *entries[] = {bound("malloc", (const void *)malloc), bound("free", (const void *)free)};
  int on_glibc = strcmp(mode, "system") == 0, in_program = strcmp(mode, "static") == 0 || strcmp(mode, "full") == 0;
#ifdef TEST_OWN_HANDLE
  on_glibc |= strcmp(mode, "dlopen") == 0;
#endif
  for (int i = 0; i < 2; i++) {
    extern const char __executable_start[], etext[];
    const char *home = home_of(entries[i]), *entry = (const char *)entries[i];
    if (on_glibc) {
      if (strstr(home, "libc.so") == NULL) fail("malloc or free is bound to %s, not to glibc", home);
    } else if (in_program) {
      if (entry < __executable_start || entry >= etext) fail("malloc or free is not in the program but in %s", home);
    } else if (strcmp(home, library) != 0) {
      fail("malloc or free is bound to %s, not to %s", home, library);
    }
  }
  int here = hak_version != NULL, expected = in_program || strcmp(mode, "preload") == 0;
  if (here != expected) fail("hak_version is %s in mode %s", here ? "present" : "missing", mode);
}

/* Fails unless the allocator's records agree with each other; also runs at the end of every case. */
__attribute__((destructor, unused)) static void prove_sound(void) {
  if (hak_check != NULL && hak_check() != 0) fail("hak_check found inconsistent records");
}

/* ---- figures ---- */

static inline int is_long(void) { return getenv("TEST_LONG") != NULL; }
/* The full length of a case with --long, a short one without. */
static inline long length(long brief, long full) { return is_long() ? full : brief; }

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void sleep_ms(long ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&pause, &pause) != 0 && errno == EINTR) {
  }
}

/* The number behind `key` in a /proc file of "key: number" lines, -1 when it is not there. Allocates nothing. */
static inline long proc_field(const char *path, const char *key) {
  static __thread char text[16384];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t used = 0;
  for (ssize_t got; used < sizeof text - 1 && (got = read(fd, text + used, sizeof text - 1 - used)) > 0;)
    used += (size_t)got;
  close(fd);
  text[used] = 0;
  const char *found = strstr(text, key);
  return found == NULL ? -1 : strtol(found + strlen(key), NULL, 10);
}

/* Resident memory, counted page by page by the kernel (the counters of statm lag behind). */
static inline long rss_kib(void) { return proc_field("/proc/self/smaps_rollup", "Rss:"); }

static inline long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/* Lines of /proc/self/maps. */
static inline long map_count(void) {
  char text[65536];
  long lines = 0;
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  for (ssize_t got; (got = read(fd, text, sizeof text)) > 0;)
    for (ssize_t i = 0; i < got; i++) lines += text[i] == '\n';
  close(fd);
  return lines;
}

/* ---- contents ---- */

static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* Keeps the compiler from reasoning about what happens to a block. */
static inline void *keep(void *block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

/* Writes a pattern that depends on `seed` and the offset; `holds` says whether it is still there. */
static inline uint64_t pattern(uint64_t seed, size_t offset) { return (seed + 1 + offset / 8) * 0x9e3779b97f4a7c15u; }

static inline void stamp(void *block, size_t size, uint64_t seed) {
  for (size_t at = 0; at < size; at += 8) {
    uint64_t word = pattern(seed, at);
    memcpy((char *)block + at, &word, size - at < 8 ? size - at : 8);
  }
}

static inline int holds(const void *block, size_t size, uint64_t seed) {
  for (size_t at = 0; at < size; at += 8) {
    uint64_t word = pattern(seed, at);
    if (memcmp((const char *)block + at, &word, size - at < 8 ? size - at : 8) != 0) return 0;
  }
  return 1;
}

static inline int is_zero(const void *block, size_t size) {
  const char *bytes = (const char *)block;
  return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static inline int is_aligned(const void *block, size_t alignment) { return ((uintptr_t)block & (alignment - 1)) == 0; }

/* ---- processes and threads ---- */

/* Waits for `child` and fails unless it ended with exit status 0. */
static inline void expect_clean_exit(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) CHECK(errno == EINTR);
  if (WIFSIGNALED(status)) fail("child %d died of signal %d", child, WTERMSIG(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

static inline pthread_t start_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  int problem = pthread_create(&thread, NULL, run, argument);
  if (problem != 0) fail("pthread_create: %s", strerror(problem));
  return thread;
}

static inline void *join(pthread_t thread) {
  void *result = NULL;
  CHECK_EQ(pthread_join(thread, &result), 0);
  return result;
}

/* Sizes on both sides of every place where an allocator may change its mind, up to `limit`. */
static inline size_t edge_sizes(size_t *sizes, size_t room, size_t limit) {
  size_t count = 0;
  for (size_t size = 0; size <= 256 && size <= limit && count < room; size++) sizes[count++] = size;
  for (size_t power = 256; power <= limit; power *= 2)
    for (size_t part = 0; part < 8; part++)
      for (size_t near = 0; near < 3; near++) {
        size_t size = power + power / 8 * part + near - 1;
        if (size > 256 && size <= limit && count < room) sizes[count++] = size;
      }
  return count;
}

#endif
