/* A library that is initialised before the allocator allocates, starts a thread and forks in its constructor. */
//@ modes=system,preload,static rows=F06,F07,I01,T06
//@ case after modes=system,preload,static preload_after="early.c"
//@ case before modes=preload preload_before="early.c"
#include "test.h"

int main(void) {
  char **block = dlsym(RTLD_DEFAULT, "early_block");
  CHECK(block != NULL && strcmp(*block, "early") == 0);
  *block = realloc(*block, 100000);
  CHECK(strcmp(*block, "early") == 0);
  return 0;
}
