/* A pointer that no allocation returned is refused by free, with what it is and where it points. */
//@ modes=preload,static,dlopen rows=H05,H07,M04,M05
//@ case stack args="stack"
//@ case static args="static"
//@ case text args="text"
//@ case mapped args="mapped"
//@ case unmapped args="unmapped"
//@ case low args="low"
//@ case low_aligned args="low_aligned"
//@ case beyond_user_space args="beyond_user_space"
//@ case kernel args="kernel"
//@ case last_byte args="last_byte"
//@ case glibc_block args="glibc_block"
//@ case glibc_large_block args="glibc_large_block"
//@ case large_interior args="large_interior"
//@ case large_unaligned args="large_unaligned"
//@ case large_tail args="large_tail"
//@ case huge_interior args="huge_interior"
//@ case medium_interior args="medium_interior"
//@ case small_interior args="small_interior"
//@ case small_unaligned args="small_unaligned"
//@ case other_thread args="other_thread"
//@ case report_stack args="stack" env="HAKMEM_MISUSE=report"
//@ case report_glibc_block args="glibc_block" env="HAKMEM_MISUSE=report"
//@ case report_large_interior args="large_interior" env="HAKMEM_MISUSE=report"
//@ case ignore_stack args="stack" env="HAKMEM_MISUSE=ignore"
//@ case ignore_glibc_block args="glibc_block" env="HAKMEM_MISUSE=ignore"
//@ case ignore_large_interior args="large_interior" env="HAKMEM_MISUSE=ignore"
#include "misuse.h"

static char in_static_memory[256];

static void release(void) { free(victim); }

/* What can only be seen when the block reaches its slab: make it go there. */
static void release_and_flush(void) {
  free(victim);
  malloc_trim(0);
}

static void *release_it(void *unused) {
  free(victim);
  return unused;
}
static void release_elsewhere(void) { join(start_thread(release_it, NULL)); }

static void *from_glibc(size_t size) {
  void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  void *(*libc_malloc)(size_t);
  CHECK(libc != NULL);
  *(void **)&libc_malloc = dlsym(libc, "malloc");
  return libc_malloc(size);
}

static void foreign(void *pointer) {
  victim = pointer;
  expect_fault(release, "invalid free", NOT_OURS, "foreign-pointer");
}

static void interior(void (*act)(void), size_t size, size_t offset) {
  char *block = malloc(size);
  CHECK(block != NULL);
  victim = block + offset;
  expect_fault(act, "invalid free", lies_inside(block), "interior-pointer");
  free(block);
}

int main(int count, char **arguments) {
  char on_stack[256];
  CHECK_EQ(count, 2);
  const char *which = arguments[1];
#define CASE(name) if (strcmp(which, name) == 0)
  CASE("stack") foreign(on_stack + 16);
  CASE("static") foreign(in_static_memory + 64);
  CASE("text") foreign((void *)main);
  CASE("mapped") {
    char *pages = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    foreign(pages + 4 * MIB);
  }
  CASE("unmapped") {
    char *pages = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages, 8 * MIB);
    foreign(pages + 4 * MIB);
  }
  CASE("low") foreign((void *)1);
  CASE("low_aligned") foreign((void *)4096);
  CASE("beyond_user_space") foreign((void *)((uintptr_t)1 << 52));
  CASE("kernel") foreign((void *)(uintptr_t)0xffff888000000000);
  CASE("last_byte") foreign((void *)UINTPTR_MAX);
  CASE("glibc_block") foreign(from_glibc(100));
  CASE("glibc_large_block") foreign(from_glibc(8 * MIB));
  CASE("large_interior") interior(release, 3 * MIB, MIB);
  CASE("large_unaligned") interior(release, 3 * MIB, 7);
  CASE("large_tail") interior(release, 3 * MIB, 3 * MIB - 16);
  CASE("huge_interior") interior(release, 300 * MIB, 150 * MIB + 16);
  CASE("medium_interior") interior(release_and_flush, 20000, 4096);
  CASE("small_interior") interior(release_and_flush, 100, 16);
  CASE("small_unaligned") interior(release_and_flush, 100, 3);
  CASE("other_thread") {
    char *block = malloc(64);
    victim = block + 16;
    expect_fault(release_elsewhere, "invalid free", lies_inside(block), "interior-pointer");
  }
  return 0;
}
