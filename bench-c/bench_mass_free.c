// bench_mass_free: many blocks are allocated, then freed in order, in reverse or at random
#include "bench.h"

enum { BLOCKS, SIZE, ORDER, ROUNDS, SEED };
enum { IN_ORDER, REVERSE, RANDOM };
static bench_param params[] = {
    [BLOCKS] = BENCH_NUMBER("blocks", 1000000, 20000, 1, 1000000000, "blocks per round"),
    [SIZE] = BENCH_NUMBER("size", 64, 64, 1, 1 << 20, "bytes per block"),
    [ORDER] = BENCH_WORD("order", "in-order|reverse|random", "order of the frees"),
    [ROUNDS] = BENCH_NUMBER("rounds", 5, 2, 1, 1000000, "times all of it is done"),
    [SEED] = BENCH_SEED,
};

// Arranges the pointers in the order of the frees, so that the timed loop just walks the array.
static void arrange(unsigned char **block, uint32_t blocks, uint64_t order, bench_rng *rng) {
    if (order == IN_ORDER) return;
    for (uint32_t i = 0; order == REVERSE && i < blocks / 2; i++) {
        unsigned char *other = block[blocks - 1 - i];
        block[blocks - 1 - i] = block[i];
        block[i] = other;
    }
    for (uint32_t i = blocks; order == RANDOM && i-- > 1;) {
        uint32_t k = bench_rng_below(rng, i + 1);
        unsigned char *other = block[k];
        block[k] = block[i];
        block[i] = other;
    }
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_mass_free", params,
                          "Each round allocates all blocks and frees them all; an operation is one "
                          "malloc and one free.");
    uint32_t blocks = (uint32_t)params[BLOCKS].value;
    size_t size = params[SIZE].value;
    uint64_t rounds = params[ROUNDS].value;

    unsigned char **block = bench_check(calloc(blocks, sizeof *block));
    bench_rng rng = bench_rng_seed(params[SEED].value);
    uint64_t checksum = 0, alloc_ns = 0, free_ns = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t begin = bench_now();
        for (uint32_t i = 0; i < blocks; i++) block[i] = bench_alloc(size, round + i);
        alloc_ns += bench_now() - begin;
        arrange(block, blocks, params[ORDER].value, &rng);
        begin = bench_now();
        for (uint32_t i = 0; i < blocks; i++) checksum += bench_free(block[i]);
        free_ns += bench_now() - begin;
    }
    free(block);
    bench_extra(&b, "alloc_ns", (double)alloc_ns / (double)(rounds * blocks));
    bench_extra(&b, "free_ns", (double)free_ns / (double)(rounds * blocks));
    return bench_report(&b, rounds * blocks, alloc_ns + free_ns, checksum);
}
