// bench_realloc: several buffers grow side by side with realloc, in small steps or by half
#include "bench.h"

enum { ROUNDS, BUFFERS, LIMIT, GROWTH, SEED };
enum { APPEND, GEOMETRIC };
enum { FIRST = 16, STEP = 1024, STAMP = 512 };
static bench_param params[] = {
    [ROUNDS] = BENCH_NUMBER("rounds", 50, 2, 1, 1000000000, "times all buffers grow and are freed"),
    [BUFFERS] = BENCH_NUMBER("buffers", 16, 16, 1, 1000000, "buffers that grow in turn"),
    [LIMIT] = BENCH_NUMBER("limit", 1 << 20, 1 << 18, FIRST, 1 << 30, "bytes of a full buffer"),
    [GROWTH] = BENCH_WORD("growth", "append|geometric", "by up to 1 KiB at a time, or by half"),
    [SEED] = BENCH_SEED,
};

typedef struct {
    unsigned char *bytes;
    size_t size;
} buffer;

// The stamped bytes must survive every move of the buffer.
static void stamp(buffer *b, size_t from, unsigned char tag) {
    for (size_t i = (from + STAMP - 1) / STAMP * STAMP; i < b->size; i += STAMP) b->bytes[i] = tag;
}

static uint64_t grow_all(buffer *buffers, bench_rng *rng) {
    uint64_t count = params[BUFFERS].value, calls = 0;
    size_t limit = params[LIMIT].value;
    bool geometric = params[GROWTH].value == GEOMETRIC;
    for (bool growing = true; growing;) {
        growing = false;
        for (uint64_t i = 0; i < count; i++) {
            buffer *b = &buffers[i];
            if (b->size >= limit) continue;
            size_t old = b->size;
            size_t more = geometric ? old / 2 : bench_rng_between(rng, 1, STEP);
            b->size = old == 0 ? FIRST : old + more;
            b->bytes = bench_check(realloc(b->bytes, b->size));
            stamp(b, old, (unsigned char)b->size);
            calls++;
            growing = true;
        }
    }
    return calls;
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_realloc", params,
                          "Buffers grow in turn from 16 bytes to the limit, then all are read and "
                          "freed; an operation is one realloc.");
    uint64_t count = params[BUFFERS].value, checksum = 0, calls = 0;
    bench_rng rng = bench_rng_seed(params[SEED].value);
    buffer *buffers = bench_check(calloc(count, sizeof *buffers));
    uint64_t begin = bench_now();
    for (uint64_t round = 0; round < params[ROUNDS].value; round++) {
        calls += grow_all(buffers, &rng);
        for (uint64_t i = 0; i < count; i++) {
            for (size_t k = 0; k < buffers[i].size; k += STAMP)
                checksum = checksum * 31 + buffers[i].bytes[k];
            free(buffers[i].bytes);
            buffers[i] = (buffer){NULL, 0};
        }
    }
    uint64_t ns = bench_now() - begin;
    free(buffers);
    return bench_report(&b, calls, ns, checksum);
}
