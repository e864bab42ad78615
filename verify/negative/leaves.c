// Allocates, then leaves the way its argument says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "exit";
    void *volatile block = malloc(100);
    free(block);
    if (strcmp(way, "kill") == 0) raise(SIGKILL);
    if (strcmp(way, "_exit") == 0) _exit(0);
    if (strcmp(way, "fail") == 0) return 7;
    if (strcmp(way, "libc-heap") == 0) {
        void *libc = dlopen("libc.so.6", RTLD_LAZY);
        void *(*libc_malloc)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
        block = libc_malloc(100);
    }
    return 0;
}
