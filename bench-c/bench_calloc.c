// bench_calloc: large zeroed blocks, checked for zeros, dirtied and freed
#include "bench.h"

enum { CYCLES, LIVE, MIN_SIZE, MAX_SIZE, SEED };
enum { PAGE = 4096 };
static bench_param params[] = {
    [CYCLES] = BENCH_NUMBER("cycles", 2000, 200, 1, 1000000000, "blocks allocated"),
    [LIVE] = BENCH_NUMBER("live", 16, 16, 1, 1000000, "blocks alive at a time"),
    [MIN_SIZE] = BENCH_NUMBER("min_size", 64 << 10, 64 << 10, 1, 1u << 31, "smallest block, bytes"),
    [MAX_SIZE] = BENCH_NUMBER("max_size", 4 << 20, 4 << 20, 1, 1u << 31, "largest block, bytes"),
    [SEED] = BENCH_SEED,
};

// Reads one byte of each page, which must be zero, and dirties it for whoever gets the page next.
static uint64_t check_and_dirty(unsigned char *block, size_t size, unsigned char tag) {
    uint64_t sum = block[size - 1];
    for (size_t i = 0; i < size; i += PAGE) {
        sum += block[i];
        block[i] = tag;
    }
    return sum;
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_calloc", params,
                          "Each cycle frees the oldest block and callocs one of random size, "
                          "checks that it is zero and writes to every page.");
    uint64_t live = params[LIVE].value, dirty = 0, checksum = 0;
    uint32_t low = (uint32_t)params[MIN_SIZE].value, high = (uint32_t)params[MAX_SIZE].value;
    if (low > high) bench_usage_error(&b, "min_size %u is above max_size %u", low, high);
    bench_rng rng = bench_rng_seed(params[SEED].value);
    unsigned char **block = bench_check(calloc(live, sizeof *block));
    uint64_t begin = bench_now();
    for (uint64_t i = 0; i < params[CYCLES].value; i++) {
        unsigned char **at = &block[i % live];
        if (*at) checksum += bench_free(*at);
        size_t size = bench_rng_between(&rng, low, high);
        *at = bench_check(calloc(1, size));
        dirty += check_and_dirty(*at, size, (unsigned char)(i | 1));
    }
    uint64_t ns = bench_now() - begin;
    for (uint64_t i = 0; i < live; i++)
        if (block[i]) checksum += bench_free(block[i]);
    free(block);
    if (dirty != 0) {
        fprintf(stderr, "bench_calloc: calloc returned memory that is not zero\n");
        return 1;
    }
    return bench_report(&b, params[CYCLES].value, ns, checksum);
}
