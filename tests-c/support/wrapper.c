/* A preloaded library whose wrappers of system calls look symbols up and allocate on every call. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

long wrapper_calls;

/* What such a library does: allocates, resolves, allocates again. */
static void *resolve(const char *name) {
  static __thread int depth;
  wrapper_calls++;
  if (depth++ < 3) {
    for (size_t size = 1; size < 100000; size *= 7) free(malloc(size));
    if (dlsym(RTLD_NEXT, "no_such_symbol_anywhere") == NULL) free(calloc(3, 1000)); /* failing, dlsym allocates */
  }
  void *next = dlsym(RTLD_NEXT, name);
  depth--;
  return next;
}

#define WRAP(type, name, parameters, arguments) \
  type name parameters { \
    type(*next) parameters; \
    *(void **)&next = resolve(#name); \
    return next arguments; \
  }

WRAP(void *, mmap, (void *at, size_t size, int access, int flags, int fd, off_t offset), (at, size, access, flags, fd, offset))
WRAP(void *, mmap64, (void *at, size_t size, int access, int flags, int fd, off_t offset), (at, size, access, flags, fd, offset))
WRAP(int, munmap, (void *at, size_t size), (at, size))
WRAP(int, mprotect, (void *at, size_t size, int access), (at, size, access))
WRAP(int, madvise, (void *at, size_t size, int advice), (at, size, advice))
WRAP(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size))
WRAP(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
WRAP(int, close, (int fd), (fd))
WRAP(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now))
WRAP(pid_t, getpid, (void), ())
WRAP(long, sysconf, (int name), (name))
WRAP(char *, getenv, (const char *name), (name))
WRAP(char *, secure_getenv, (const char *name), (name))
WRAP(void *, sbrk, (intptr_t step), (step))

int open(const char *path, int flags, ...) {
  int (*next)(const char *, int, mode_t);
  va_list list;
  va_start(list, flags);
  mode_t mode = va_arg(list, mode_t);
  va_end(list);
  *(void **)&next = resolve("open");
  return next(path, flags, mode);
}
