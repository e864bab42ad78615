// hello: the smallest program, for start-up time; with an argument also its peak memory in KiB.
#include "../bench-c/bench.h"

int main(int argc, char **argv) {
    (void)argv;
    puts("hello, world");
    if (argc > 1) printf("%" PRIu64 "\n", bench_status_kib("VmHWM"));
    return 0;
}
