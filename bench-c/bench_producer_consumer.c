// bench_producer_consumer: one thread allocates, another reads and frees, through a bounded queue
#include "threads.h"

#include <sched.h>
#include <stdatomic.h>

enum { PAIRS, OBJECTS, MIN_SIZE, MAX_SIZE, SEED };
static bench_param params[] = {
    [PAIRS] = BENCH_NUMBER("pairs", 1, 1, 1, 128, "producers, each with its own consumer"),
    [OBJECTS] = BENCH_NUMBER("objects", 5000000, 50000, 1, 1000000000000, "blocks per pair"),
    [MIN_SIZE] = BENCH_NUMBER("min_size", 16, 16, 1, 1 << 30, "smallest block in bytes"),
    [MAX_SIZE] = BENCH_NUMBER("max_size", 256, 256, 1, 1 << 30, "largest block in bytes"),
    [SEED] = BENCH_SEED,
};

#define CAPACITY 1024u // a power of two
#define CACHE_LINE 64

typedef struct {
    _Alignas(CACHE_LINE) atomic_size_t head; // next to take; written by the consumer
    _Alignas(CACHE_LINE) atomic_size_t tail; // next to fill; written by the producer
    _Alignas(CACHE_LINE) unsigned char *cell[CAPACITY];
} queue;

// Each side rereads the other's index only when its last view says full or empty, so that the
// queue costs little beside malloc and free.
static void produce(queue *q, bench_worker *w) {
    bench_rng rng = bench_rng_seed(w->params[SEED].value + w->index / 2);
    uint32_t low = (uint32_t)w->params[MIN_SIZE].value, high = (uint32_t)w->params[MAX_SIZE].value;
    size_t head = 0;
    for (size_t i = 0; i < w->params[OBJECTS].value; i++) {
        while (i - head == CAPACITY) {
            head = atomic_load_explicit(&q->head, memory_order_acquire);
            if (i - head == CAPACITY) sched_yield();
        }
        q->cell[i % CAPACITY] = bench_alloc(bench_rng_between(&rng, low, high), i);
        atomic_store_explicit(&q->tail, i + 1, memory_order_release);
    }
}

static void consume(queue *q, bench_worker *w) {
    size_t tail = 0;
    for (size_t i = 0; i < w->params[OBJECTS].value; i++) {
        while (i == tail) {
            tail = atomic_load_explicit(&q->tail, memory_order_acquire);
            if (i == tail) sched_yield();
        }
        w->checksum += bench_free(q->cell[i % CAPACITY]);
        atomic_store_explicit(&q->head, i + 1, memory_order_release);
    }
}

static void body(bench_worker *w) {
    queue *q = (queue *)w->shared + w->index / 2;
    if (w->index % 2 == 0)
        produce(q, w);
    else
        consume(q, w);
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_producer_consumer", params,
                          "A producer allocates blocks and passes them through a queue of 1,024 to "
                          "a consumer, which reads and frees them.");
    unsigned pairs = (unsigned)params[PAIRS].value;
    if (params[MIN_SIZE].value > params[MAX_SIZE].value)
        bench_usage_error(&b, "min_size is above max_size");
    queue *queues = bench_check(aligned_alloc(CACHE_LINE, pairs * sizeof *queues));
    memset(queues, 0, pairs * sizeof *queues);
    uint64_t checksum = 0;
    uint64_t ns = bench_run_threads(2 * pairs, body, params, queues, &checksum);
    free(queues);
    return bench_report(&b, pairs * params[OBJECTS].value, ns, checksum);
}
