// bench_tiny: 256 live blocks of 8 to 128 bytes, the oldest dies first, one thread
#include "tiny_ring.h"

enum { CYCLES, SEED };
static bench_param params[] = {
    [CYCLES] = BENCH_NUMBER("cycles", 20000000, 100000, 1, 1000000000000, "blocks replaced"),
    [SEED] = BENCH_SEED,
};

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_tiny", params,
                          "A ring of 256 blocks of 8 to 128 bytes: each cycle replaces the "
                          "oldest.");
    uint64_t begin = bench_now();
    uint64_t checksum = tiny_ring(params[CYCLES].value, params[SEED].value);
    return bench_report(&b, params[CYCLES].value, bench_now() - begin, checksum);
}
