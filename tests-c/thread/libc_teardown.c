/* What libc keeps per thread (loader errors, resolver state, error texts, locale) is freed after other destructors ran. */
//@ modes=system,preload,static,dlopen rows=T03
#include <locale.h>
#include <netdb.h>

#include "test.h"

static void *run(void *argument) {
  CHECK(dlsym(RTLD_DEFAULT, "no_such_symbol") == NULL && dlerror() != NULL);
  CHECK(dlopen("/no/such/library.so", RTLD_NOW) == NULL); /* its error text stays until the thread ends */
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found = NULL;
  CHECK_EQ(getaddrinfo("127.0.0.1", "80", &hints, &found), 0);
  freeaddrinfo(found);
  gethostbyname("localhost");
  CHECK(strlen(strerror(123456 + (int)(intptr_t)argument)) > 5);
  locale_t own = newlocale(LC_ALL_MASK, "C", NULL);
  uselocale(own);
  free(keep(malloc(1000)));
  uselocale(LC_GLOBAL_LOCALE);
  freelocale(own);
  return NULL;
}

int main(void) {
  for (int round = 0; round < 50; round++) {
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++) threads[i] = start_thread(run, (void *)i);
    for (int i = 0; i < 4; i++) join(threads[i]);
  }
  return 0;
}
