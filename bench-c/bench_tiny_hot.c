// bench_tiny_hot: batches of one small size, freed last-in-first-out or first-in-first-out
#include "bench.h"

enum { SIZE, BATCH, CYCLES, ORDER };
enum { LIFO, FIFO };
static bench_param params[] = {
    [SIZE] = BENCH_NUMBER("size", 16, 16, 1, 1 << 20, "bytes per block"),
    [BATCH] = BENCH_NUMBER("batch", 100, 100, 1, 10000000, "blocks allocated, then freed"),
    [CYCLES] = BENCH_NUMBER("cycles", 200000, 1000, 1, 1000000000, "batches"),
    [ORDER] = BENCH_WORD("order", "lifo|fifo", "which block of a batch is freed first"),
};

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_tiny_hot", params,
                          "Each cycle allocates a batch of blocks and frees it again; an operation "
                          "is one malloc and one free.");
    size_t size = params[SIZE].value, batch = params[BATCH].value;
    uint64_t cycles = params[CYCLES].value;
    bool fifo = params[ORDER].value == FIFO;

    unsigned char **block = bench_check(calloc(batch, sizeof *block));
    uint64_t checksum = 0;
    uint64_t begin = bench_now();
    for (uint64_t c = 0; c < cycles; c++) {
        for (size_t i = 0; i < batch; i++) block[i] = bench_alloc(size, c + i);
        if (fifo)
            for (size_t i = 0; i < batch; i++) checksum += bench_free(block[i]);
        else
            for (size_t i = batch; i-- > 0;) checksum += bench_free(block[i]);
    }
    uint64_t ns = bench_now() - begin;
    free(block);
    return bench_report(&b, cycles * batch, ns, checksum);
}
