#!/usr/bin/env bash
# A process without any environment, started by the loader with our library, works and is served by us.
#@ modes=preload rows=R10 stdout="^sorted: a b c$"
set -euo pipefail

cat > bare.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
static int compare(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
int main(void) {
  char *words[] = {strdup("c"), strdup("a"), strdup("b")};
  if (environ[0] != NULL || dlsym(RTLD_DEFAULT, "hak_version") == NULL) return 1;
  if (clearenv() != 0 || environ != NULL) return 2;
  for (size_t size = 1; size < 50000000; size *= 3) free(realloc(malloc(size), size * 2));
  qsort(words, 3, sizeof *words, compare);
  printf("sorted: %s %s %s\n", words[0], words[1], words[2]);
  for (int i = 0; i < 3; i++) free(words[i]);
  return 0;
}
C
gcc -O2 -fno-builtin-malloc bare.c -o bare
env -i "$TEST_LOADER" --preload "$TEST_LIBRARY" ./bare
