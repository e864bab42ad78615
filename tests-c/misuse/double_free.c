/* Freeing a block twice is caught: at once when large or from another thread, else when it reaches its slab. */
//@ modes=preload,static,full,dlopen rows=H01,H05,H07
//@ case small_full_bin args="small_full_bin"
//@ case small_alone args="small_alone"
//@ case small_thread_end args="small_thread_end"
//@ case small_interleaved args="small_interleaved"
//@ case small_trim args="small_trim"
//@ case small_other_thread args="small_other_thread"
//@ case small_owner_after_other args="small_owner_after_other"
//@ case medium_other_thread args="medium_other_thread"
//@ case large args="large"
//@ case large_delayed args="large_delayed"
//@ case large_other_thread args="large_other_thread"
//@ case large_calloc args="large_calloc"
//@ case large_aligned args="large_aligned"
//@ case huge args="huge"
//@ case report args="large" env="HAKMEM_MISUSE=report"
//@ case report_small args="small_full_bin" env="HAKMEM_MISUSE=report"
//@ case report_other_thread args="small_other_thread" env="HAKMEM_MISUSE=report"
//@ case ignore args="large" env="HAKMEM_MISUSE=ignore"
//@ case ignore_small args="small_full_bin" env="HAKMEM_MISUSE=ignore"
//@ case ignore_other_thread args="small_other_thread" env="HAKMEM_MISUSE=ignore"
#include "misuse.h"

enum { SMALL = 64, MEDIUM = 20000, CROWD = 4096 };
static void *crowd[CROWD];

static void *free_victim(void *unused) {
  free(victim);
  return unused;
}

static void twice(void) {
  free(victim);
  free(victim);
}

/* The cache in front is full, so both go to the slab; its neighbours live on. */
static void full_bin(void) {
  for (int i = 0; i < CROWD; i += 2) free(crowd[i]);
  twice();
  malloc_trim(0);
}

/* Both copies lie in the thread's cache until it ends. */
static void *own_twice(void *unused) {
  victim = keep(malloc(SMALL));
  twice();
  return unused;
}
static void thread_end(void) { join(start_thread(own_twice, NULL)); }

static void interleaved(void) {
  free(victim);
  free(crowd[0]);
  free(victim);
  for (int i = 1; i < CROWD; i += 2) free(crowd[i]);
  malloc_trim(0); /* whatever still lies in front goes to its slab */
}

static void trim(void) {
  twice();
  malloc_trim(0);
}

static void both_elsewhere(void) {
  join(start_thread(free_victim, NULL));
  join(start_thread(free_victim, NULL));
}

static void owner_second(void) {
  join(start_thread(free_victim, NULL));
  free(victim);
  malloc_trim(0);
}

static void delayed(void) {
  free(victim);
  for (int i = 0; i < 1000; i++) free(keep(malloc((size_t)1 << i % 16)));
  free(victim);
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  const char *which = arguments[1];
  size_t size = strncmp(which, "small", 5) == 0    ? SMALL
                : strncmp(which, "medium", 6) == 0 ? MEDIUM
                : strncmp(which, "large", 5) == 0  ? 3 * MIB
                                                   : 300 * MIB;
  int among = strcmp(which, "small_alone") == 0 ? CROWD : CROWD / 2; /* where the victim lies in the crowd */
  for (int i = 0; size == SMALL && i < among; i++) CHECK((crowd[i] = malloc(SMALL)) != NULL);
  victim = strstr(which, "calloc") ? calloc(1, size) : strstr(which, "aligned") ? memalign(64 * KIB, size) : malloc(size);
  CHECK(victim != NULL);
  for (int i = among; size == SMALL && i < CROWD; i++) CHECK((crowd[i] = malloc(SMALL)) != NULL);
  const char *manner = strchr(which, '_');
  void (*act)(void) = manner == NULL                          ? twice
                      : strcmp(manner, "_full_bin") == 0      ? full_bin
                      : strcmp(manner, "_alone") == 0         ? trim
                      : strcmp(manner, "_thread_end") == 0    ? thread_end
                      : strcmp(manner, "_interleaved") == 0   ? interleaved
                      : strcmp(manner, "_trim") == 0          ? trim
                      : strcmp(manner, "_other_thread") == 0  ? both_elsewhere
                      : strcmp(manner, "_owner_after_other") == 0 ? owner_second
                      : strcmp(manner, "_delayed") == 0       ? delayed
                                                              : twice;
  expect_fault(act, "double free", already_free(size == SMALL ? crowd[0] : victim), "double-free");
  return 0;
}
