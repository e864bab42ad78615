/* A plugin that, opened with RTLD_DEEPBIND, would find its allocator in libc first. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *plugin_make(const char *text) {
  char *made = malloc(strlen(text) + 1);
  return strcpy(made, text);
}
char *plugin_print(int number) {
  char *text = NULL;
  return asprintf(&text, "number %d", number) < 0 ? NULL : text;
}
void plugin_drop(void *block) { free(block); }
void *plugin_grow(void *block, size_t size) { return realloc(block, size); }
size_t plugin_measure(void *block) { return malloc_usable_size(block); }
