/* A program with a malloc of its own, as browsers have: what helpers return must come from the program's malloc. */
//@ modes=system,preload rows=S02,M04
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

static void complain(const char *what) {
  dprintf(2, "%s\n", what);
  _exit(1);
}

static char arena[64 << 20];
static size_t used;
static long released, foreign;

static int is_mine(const void *block) { return (const char *)block >= arena && (const char *)block < arena + sizeof arena; }

void *malloc(size_t size) {
  size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at + size + 16 > sizeof arena) return NULL;
  *(size_t *)(void *)(arena + at) = size;
  return arena + at + 16;
}
void free(void *block) {
  if (block != NULL) __atomic_fetch_add(is_mine(block) ? &released : &foreign, 1, __ATOMIC_RELAXED);
}
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
  if (block != NULL && !is_mine(block)) complain("realloc was given a block of another allocator");
  void *grown = malloc(size);
  if (block != NULL) {
    size_t had = ((size_t *)block)[-2];
    memcpy(grown, block, had < size ? had : size);
  }
  return grown;
}

static void mine(const char *what, void *block) {
  if (block == NULL || !is_mine(block)) complain(what);
  free(block);
}

int main(void) {
  char *line = NULL, *text = NULL;
  size_t room = 0;
  if (getenv("TEST_MODE") == NULL) complain("run this through tests-c/run.py");
  for (int i = 0; i < 1000; i++) {
    mine("strdup", strdup("text"));
    mine("strndup", strndup("text", 2));
    if (asprintf(&text, "%d", i) < 0) complain("asprintf fails");
    mine("asprintf", text);
    mine("reallocarray", reallocarray(NULL, 10, 10));
    mine("reallocarray of a block", reallocarray(malloc(5), 10, 10));
    mine("realpath", realpath("/", NULL));
    mine("getcwd", getcwd(NULL, 0));
  }
  FILE *file = fopen("/proc/self/maps", "r");
  while (getline(&line, &room, file) > 0) {
  }
  mine("getline", line);
  fclose(file);
  struct dirent **names;
  int count = scandir("/proc/self", &names, NULL, alphasort);
  for (int i = 0; i < count; i++) mine("scandir", names[i]);
  mine("scandir", names);
  if (foreign != 0) complain("libc freed blocks of another allocator into the program's");

  /* The program lacks these; whoever serves them, the blocks work and its free can tell them apart. */
  void *blocks[4] = {memalign(64, 100), aligned_alloc(4096, 100), valloc(100), NULL};
  if (posix_memalign(&blocks[3], 128, 100) != 0) complain("posix_memalign fails");
  for (int i = 0; i < 4; i++) {
    memset(blocks[i], i, 100);
    free(blocks[i]);
  }
  return released > 5000 ? 0 : 1;
}
