// bench_random_mixed: blocks of random size and random lifetime in a fixed working set
#include "bench.h"

enum { CYCLES, WS, SEED, MIN_SIZE, MAX_SIZE };
static bench_param params[] = {
    [CYCLES] = BENCH_NUMBER("cycles", 10000000, 100000, 1, 1000000000000, "blocks replaced"),
    [WS] = BENCH_NUMBER("working_set", 256, 256, 1, 100000000, "blocks alive at a time"),
    [SEED] = BENCH_SEED,
    [MIN_SIZE] = {"min_size", 16, 16, 1, 1 << 30, "smallest block in bytes", NULL,
                  "HAKMEM_BENCH_MIN_SIZE", 0},
    [MAX_SIZE] = {"max_size", 1040, 1040, 1, 1 << 30, "largest block in bytes", NULL,
                  "HAKMEM_BENCH_MAX_SIZE", 0},
};

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_random_mixed", params,
                          "Each cycle picks a slot of the working set, frees the block in it and "
                          "puts one of random size there.");
    uint64_t cycles = params[CYCLES].value;
    uint32_t slots = (uint32_t)params[WS].value;
    uint32_t low = (uint32_t)params[MIN_SIZE].value, high = (uint32_t)params[MAX_SIZE].value;
    if (low > high) bench_usage_error(&b, "min_size %u is above max_size %u", low, high);

    unsigned char **slot = bench_check(calloc(slots, sizeof *slot));
    bench_rng rng = bench_rng_seed(params[SEED].value);
    uint64_t checksum = 0;
    uint64_t begin = bench_now();
    for (uint64_t i = 0; i < cycles; i++) {
        uint64_t random = bench_rng_next(&rng);
        unsigned char **at = &slot[bench_scale((uint32_t)(random >> 32), slots)];
        if (*at) checksum += bench_free(*at);
        *at = bench_alloc(low + bench_scale((uint32_t)random, high - low + 1), random);
    }
    uint64_t ns = bench_now() - begin;
    for (uint32_t i = 0; i < slots; i++)
        if (slot[i]) checksum += bench_free(slot[i]);
    free(slot);
    return bench_report(&b, cycles, ns, checksum);
}
