// bench_large_set: a million live blocks are built, replaced at random, walked and torn down
#include "bench.h"

enum { BLOCKS, CYCLES, MIN_SIZE, MAX_SIZE, SEED };
static bench_param params[] = {
    [BLOCKS] = BENCH_NUMBER("blocks", 1000000, 20000, 1, 1000000000, "live blocks"),
    [CYCLES] = BENCH_NUMBER("cycles", 2000000, 20000, 1, 1000000000000, "blocks replaced"),
    [MIN_SIZE] = BENCH_NUMBER("min_size", 16, 16, 1, 1 << 30, "smallest block in bytes"),
    [MAX_SIZE] = BENCH_NUMBER("max_size", 256, 256, 1, 1 << 30, "largest block in bytes"),
    [SEED] = BENCH_SEED,
};

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_large_set", params,
                          "Builds a large heap, replaces random blocks in it, reads every block "
                          "and frees all; time is given for each of the four.");
    uint64_t cycles = params[CYCLES].value;
    uint32_t blocks = (uint32_t)params[BLOCKS].value;
    uint32_t low = (uint32_t)params[MIN_SIZE].value, high = (uint32_t)params[MAX_SIZE].value;
    if (low > high) bench_usage_error(&b, "min_size %u is above max_size %u", low, high);

    unsigned char **block = bench_check(calloc(blocks, sizeof *block));
    bench_rng rng = bench_rng_seed(params[SEED].value);
    uint64_t checksum = 0;
    uint64_t begin = bench_now();
    for (uint32_t i = 0; i < blocks; i++)
        block[i] = bench_alloc(bench_rng_between(&rng, low, high), i);
    uint64_t built = bench_now();
    for (uint64_t i = 0; i < cycles; i++) {
        uint64_t random = bench_rng_next(&rng);
        unsigned char **at = &block[bench_scale((uint32_t)(random >> 32), blocks)];
        checksum += bench_free(*at);
        *at = bench_alloc(low + bench_scale((uint32_t)random, high - low + 1), random);
    }
    uint64_t replaced = bench_now();
    for (uint32_t i = 0; i < blocks; i++) checksum = checksum * 31 + block[i][0];
    uint64_t walked = bench_now();
    for (uint32_t i = 0; i < blocks; i++) checksum += bench_free(block[i]);
    uint64_t end = bench_now();
    free(block);
    bench_extra(&b, "build_ns", (double)(built - begin) / blocks);
    bench_extra(&b, "replace_ns", (double)(replaced - built) / (double)cycles);
    bench_extra(&b, "walk_ns", (double)(walked - replaced) / blocks);
    bench_extra(&b, "free_ns", (double)(end - walked) / blocks);
    return bench_report(&b, blocks + cycles, end - begin, checksum);
}
