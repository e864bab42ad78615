/* Any entry point may be the very first call of the process, before every constructor, NULL arguments first. */
//@ modes=system,preload,static,full rows=I01,I04,F07
//@ case free_null args="free_null"
//@ case measure_null args="measure_null"
//@ case realloc_null args="realloc_null"
//@ case malloc args="malloc"
//@ case calloc args="calloc"
//@ case memalign args="memalign"
//@ case posix_memalign args="posix_memalign"
//@ case huge args="huge"
//@ case refused args="refused"
//@ case trim args="trim"
//@ case figures args="figures"
//@ case thread args="thread"
//@ case fork args="fork"
//@ case atexit args="atexit"
#include "test.h"

static void *kept;
static int exits;

static void *in_thread(void *unused) {
  for (int i = 0; i < 100; i++) free(keep(malloc((size_t)i * 100)));
  return unused;
}

static void count_exit(void) { exits++; }
static void last_exit(void) {
  if (exits != 100) fail("%d of 100 exit handlers ran", exits);
}

/* In .preinit_array: runs before the constructors of all libraries, so before any of the allocator. */
static void first(int count, char **arguments, char **environment) {
  (void)environment;
  const char *which = count > 1 ? arguments[1] : "";
#define CASE(name) if (strcmp(which, name) == 0)
  CASE("free_null") free(NULL);
  CASE("measure_null") CHECK_EQ(malloc_usable_size(NULL), 0);
  CASE("realloc_null") kept = realloc(NULL, 100);
  CASE("malloc") kept = malloc(100);
  CASE("calloc") kept = calloc(10, 10);
  CASE("memalign") kept = memalign(4096, 100);
  CASE("posix_memalign") CHECK_EQ(posix_memalign(&kept, 64, 100), 0);
  CASE("huge") kept = malloc(100 * MIB);
  CASE("refused") CHECK(malloc(PTRDIFF_MAX) == NULL);
  CASE("trim") malloc_trim(0);
  CASE("figures") CHECK_AT_MOST(mallinfo2().uordblks, MIB);
  CASE("thread") join(start_thread(in_thread, NULL));
  CASE("fork") {
    pid_t child = fork();
    if (child == 0) {
      join(start_thread(in_thread, NULL));
      _exit(0);
    }
    expect_clean_exit(child);
  }
  CASE("atexit") { /* the table of exit handlers grows by calloc after 32 */
    CHECK_EQ(atexit(last_exit), 0);
    for (int i = 0; i < 100; i++) CHECK_EQ(atexit(count_exit), 0);
  }
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **, char **) = first;

int main(void) {
  if (kept != NULL) {
    stamp(kept, 100, 1);
    kept = realloc(kept, 5000);
    CHECK(holds(kept, 100, 1));
    free(kept);
  }
  join(start_thread(in_thread, NULL));
  return 0;
}
