// test_mf2: blocks of 2 KiB to 64 KiB with random lifetimes on several threads
#include "threads.h"

enum { THREADS, CYCLES, WS, SEED };
enum { LOW = 2 << 10, HIGH = 64 << 10, PAGE = 4096 };
static bench_param params[] = {
    [THREADS] = BENCH_THREADS(2),
    [CYCLES] = BENCH_NUMBER("cycles", 1000000, 5000, 1, 1000000000000, "replacements per thread"),
    [WS] = BENCH_NUMBER("working_set", 128, 64, 1, 1000000, "live blocks per thread"),
    [SEED] = BENCH_SEED,
};

static void body(bench_worker *w) {
    uint32_t slots = (uint32_t)w->params[WS].value;
    unsigned char **slot = bench_check(calloc(slots, sizeof *slot));
    bench_rng rng = bench_rng_seed(w->params[SEED].value + w->index);
    uint64_t checksum = 0;
    for (uint64_t i = 0; i < w->params[CYCLES].value; i++) {
        uint64_t random = bench_rng_next(&rng);
        unsigned char **at = &slot[bench_scale((uint32_t)(random >> 32), slots)];
        if (*at) checksum += bench_free(*at);
        size_t size = LOW + bench_scale((uint32_t)random, HIGH - LOW + 1);
        *at = bench_alloc(size, random);
        for (size_t offset = PAGE; offset < size; offset += PAGE) (*at)[offset] = (unsigned char)i;
    }
    for (uint32_t i = 0; i < slots; i++)
        if (slot[i]) checksum += bench_free(slot[i]);
    free(slot);
    w->checksum = checksum;
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "test_mf2", params,
                          "Every thread replaces random blocks of 2 to 64 KiB and writes to each "
                          "of their pages.");
    uint64_t checksum = 0;
    unsigned threads = (unsigned)params[THREADS].value;
    uint64_t ns = bench_run_threads(threads, body, params, NULL, &checksum);
    return bench_report(&b, threads * params[CYCLES].value, ns, checksum);
}
