/* Blocks cross between the program and two plugins opened with RTLD_DEEPBIND, in every direction. */
//@ modes=system,preload rows=M01,S01 libs=deepbind_plugin.c
#include "test.h"

struct plugin {
  char *(*make)(const char *), *(*print)(int);
  void (*drop)(void *), *(*grow)(void *, size_t);
  size_t (*measure)(void *);
};

static struct plugin open_plugin(int number) {
  char original[4096], copy[64], command[8300];
  struct plugin plugin;
  snprintf(original, sizeof original, "%s/deepbind_plugin.so", getenv("TEST_LIB_DIR"));
  snprintf(copy, sizeof copy, "./plugin%d.so", number); /* two files, so two copies */
  snprintf(command, sizeof command, "cp '%s' '%s'", original, copy);
  CHECK_EQ(system(command), 0);
  void *handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == NULL) fail("%s", dlerror());
  *(void **)&plugin.make = dlsym(handle, "plugin_make");
  *(void **)&plugin.print = dlsym(handle, "plugin_print");
  *(void **)&plugin.drop = dlsym(handle, "plugin_drop");
  *(void **)&plugin.grow = dlsym(handle, "plugin_grow");
  *(void **)&plugin.measure = dlsym(handle, "plugin_measure");
  return plugin;
}

int main(void) {
  struct plugin first = open_plugin(1), second = open_plugin(2);
  for (int i = 0; i < 2000; i++) {
    char *block = first.print(i); /* made inside libc */
    CHECK(strncmp(block, "number ", 7) == 0);
    first.drop(block);
    first.drop(strdup("from the program"));
    free(first.make("from the plugin"));
    second.drop(first.make("from the other plugin"));
    block = first.grow(strdup("grown"), 5000);
    CHECK(strcmp(block, "grown") == 0);
    CHECK_AT_LEAST(second.measure(block), 5000);
    block = realloc(block, 100000);
    CHECK(strcmp(block, "grown") == 0);
    second.drop(block);
    first.drop(malloc(2 * MIB));
  }
  return 0;
}
