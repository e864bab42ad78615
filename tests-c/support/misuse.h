/* Commits a misuse in a child process and judges how it ended and what exactly it said. */
#ifndef MISUSE_H
#define MISUSE_H
#include "test.h"

/* The pointer that the message must name; shared, so that the child may choose it. */
#define victim (*victim_cell())
static inline void **victim_cell(void) {
  static void **cell;
  if (cell == NULL) {
    cell = (void **)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cell == MAP_FAILED) fail("mmap");
  }
  return cell;
}

/* HAKMEM_MISUSE of this run: abort (the default), report or ignore. */
static inline const char *policy(void) {
  const char *value = getenv("HAKMEM_MISUSE");
  return value == NULL ? "abort" : value;
}

/* After a misuse that was survived the heap must be sound: nothing handed out twice, contents kept. */
static inline void prove_heap_sound(void) {
  enum { COUNT = 3000 };
  static struct { void *block; size_t size; } live[COUNT];
  for (int i = 0; i < COUNT; i++) {
    live[i].size = (size_t)1 << i % 18;
    live[i].block = malloc(live[i].size);
    CHECK(live[i].block != NULL);
    stamp(live[i].block, live[i].size, (uint64_t)i);
  }
  for (int i = 0; i < COUNT; i++) CHECK(holds(live[i].block, live[i].size, (uint64_t)i));
  for (int i = 0; i < COUNT; i++) free(live[i].block);
  prove_sound();
}

/* `act` misuses `victim`; the message must be exactly "hakmem: FAULT: pointer VICTIM WHAT (docs/MISUSE.md#ANCHOR)",
 * as the first thing written, and the process must end as the policy says. */
static inline void expect_fault(void (*act)(void), const char *fault, const char *what, const char *anchor) {
  char expected[400], said[4096];
  int pipes[2], status = 0;
  CHECK_EQ(pipe(pipes), 0);
  CHECK(victim_cell() != NULL);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 2);
    alarm(20);
    act();
    prove_heap_sound();
    _exit(0);
  }
  close(pipes[1]);
  size_t used = 0;
  for (ssize_t got; used < sizeof said - 1 && (got = read(pipes[0], said + used, sizeof said - 1 - used)) > 0;)
    used += (size_t)got;
  said[used] = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  snprintf(expected, sizeof expected, "hakmem: %s: pointer 0x%lx %s (docs/MISUSE.md#%s)\n", fault,
           (unsigned long)victim, what, anchor);
  if (strcmp(policy(), "ignore") == 0) {
    if (used != 0) fail("said under ignore: %s", said);
  } else if (strncmp(said, expected, strlen(expected)) != 0) {
    fail("said:     %sexpected: %sstatus:   %#x", used == 0 ? "(nothing)\n" : said, expected, status);
  }
  if (strcmp(policy(), "abort") == 0) {
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) fail("status %#x after: %s", status, said);
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail("status %#x under %s after: %s", status, policy(), said);
  }
}

/* The end of the message for a block that is already free. */
static inline const char *already_free(const void *block) {
  static char text[100];
  snprintf(text, sizeof text, "is already free (block of %zu bytes)", malloc_usable_size((void *)block));
  return text;
}

/* The end of the message for a pointer inside of `block`. */
static inline const char *lies_inside(const void *block) {
  static char text[100];
  snprintf(text, sizeof text, "lies inside a block of %zu bytes that starts at 0x%lx",
           malloc_usable_size((void *)block), (unsigned long)block);
  return text;
}

#define NOT_OURS "is not a block of hakmem"

#endif
