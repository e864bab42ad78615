// bench_cache_scratch: passive false sharing, neighbouring blocks given to different threads
#include "threads.h"

enum { THREADS, CYCLES, WRITES, SIZE };
static bench_param params[] = {
    [THREADS] = BENCH_THREADS(2),
    [CYCLES] = BENCH_NUMBER("cycles", 20000, 500, 1, 1000000000, "blocks each thread uses in turn"),
    [WRITES] = BENCH_NUMBER("writes", 2000, 200, 1, 1000000000, "writes to each block"),
    [SIZE] = BENCH_NUMBER("size", 8, 8, 1, 4096, "bytes per block"),
};

// Frees a block that lies beside its neighbours' ones; an allocator that hands the same memory
// back makes the threads fight for one cache line ever after.
static void body(bench_worker *w) {
    size_t size = w->params[SIZE].value;
    uint64_t writes = w->params[WRITES].value;
    unsigned char **given = w->shared;
    w->checksum += bench_free(given[w->index]);
    for (uint64_t i = 0; i < w->params[CYCLES].value; i++) {
        volatile unsigned char *block = bench_alloc(size, i);
        for (uint64_t k = 0; k < writes; k++) block[k % size] += 1;
        w->checksum += bench_free((unsigned char *)block);
    }
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_cache_scratch", params,
                          "The main thread gives each thread one of several neighbouring blocks; "
                          "the thread frees it, then allocates, writes and frees blocks of its "
                          "own. An operation is one write.");
    unsigned threads = (unsigned)params[THREADS].value;
    unsigned char **given = bench_check(calloc(threads, sizeof *given));
    for (unsigned i = 0; i < threads; i++) given[i] = bench_alloc(params[SIZE].value, i);
    uint64_t checksum = 0;
    uint64_t ns = bench_run_threads(threads, body, params, given, &checksum);
    free(given);
    return bench_report(&b, threads * params[CYCLES].value * params[WRITES].value, ns, checksum);
}
