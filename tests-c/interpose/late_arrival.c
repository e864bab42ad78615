/* The allocator comes in as a dependency of a plugin when older blocks exist: nobody frees them into it unnoticed. */
//@ modes=dlopen rows=M05
//@ case plain args="plain"
//@ case deepbind args="deepbind" signal=ABRT stderr="hakmem: invalid free: pointer 0x[0-9a-f]+ is not a block of hakmem"
//@ case deepbind_report args="deepbind" env="HAKMEM_MISUSE=report" stderr="hakmem: invalid free: pointer 0x[0-9a-f]+ is not a block of hakmem"
#define TEST_OWN_HANDLE
#include "test.h"

int main(int count, char **arguments) {
  char command[16600];
  char *old = strdup("older than the allocator");
  CHECK_EQ(count, 2);
  snprintf(command, sizeof command, "printf '%%s' '%s' > plugin.c && gcc -shared -fPIC plugin.c -o plugin.so '%s' -Wl,-rpath,$(dirname '%s')",
           "#include <stdlib.h>\n#include <string.h>\nvoid late_free(void *block) { free(block); }\n"
           "char *late_copy(const char *text) { return strcpy(malloc(strlen(text) + 1), text); }\n",
           getenv("TEST_LIBRARY"), getenv("TEST_LIBRARY"));
  CHECK_EQ(system(command), 0);
  int deep = strcmp(arguments[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
  void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL | deep);
  if (plugin == NULL) fail("%s", dlerror());
  void (*late_free)(void *);
  char *(*late_copy)(const char *);
  *(void **)&late_free = dlsym(plugin, "late_free");
  *(void **)&late_copy = dlsym(plugin, "late_copy");
  late_free(late_copy("made and freed by the plugin"));
  if (!deep) free(late_copy("made by the plugin"));
  late_free(old);
  return 0;
}
