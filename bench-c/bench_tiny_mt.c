// bench_tiny_mt: the loop of bench_tiny on several threads that share nothing
#include "threads.h"
#include "tiny_ring.h"

enum { THREADS, CYCLES, SEED };
static bench_param params[] = {
    [THREADS] = BENCH_THREADS(2),
    [CYCLES] = BENCH_NUMBER("cycles", 10000000, 50000, 1, 1000000000000, "replacements per thread"),
    [SEED] = BENCH_SEED,
};

static void body(bench_worker *w) {
    w->checksum = tiny_ring(w->params[CYCLES].value, w->params[SEED].value + w->index);
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_tiny_mt", params,
                          "Every thread has its own ring of 256 blocks of 8 to 128 bytes and "
                          "replaces the oldest each cycle.");
    uint64_t checksum = 0;
    unsigned threads = (unsigned)params[THREADS].value;
    uint64_t ns = bench_run_threads(threads, body, params, NULL, &checksum);
    return bench_report(&b, threads * params[CYCLES].value, ns, checksum);
}
