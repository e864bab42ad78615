// bench_larson: threads replace random blocks, then end and leave their blocks to a successor
#include "threads.h"

#include <semaphore.h>

enum { THREADS, GENERATIONS, CYCLES, BLOCKS, SEED };
enum { LOW = 8, HIGH = 500 };
static bench_param params[] = {
    [THREADS] = BENCH_THREADS(2),
    [GENERATIONS] = BENCH_NUMBER("generations", 100, 5, 1, 10000000, "threads after one another"),
    [CYCLES] = BENCH_NUMBER("cycles", 50000, 5000, 1, 1000000000, "replacements per generation"),
    [BLOCKS] = BENCH_NUMBER("blocks", 1000, 1000, 1, 100000000, "live blocks that are inherited"),
    [SEED] = BENCH_SEED,
};

typedef struct {
    unsigned char **block;
    bench_rng rng;
    uint64_t checksum;
    uint64_t generation;
    pthread_t predecessor;
} family;

static sem_t families_done;

static void *generation(void *argument) {
    family *f = argument;
    // The predecessor ends while its successor already works; joining it late keeps that overlap.
    pthread_t predecessor = f->predecessor;
    bool first = f->generation == 0;
    uint32_t blocks = (uint32_t)params[BLOCKS].value;
    for (uint64_t i = 0; i < params[CYCLES].value; i++) {
        uint64_t random = bench_rng_next(&f->rng);
        unsigned char **at = &f->block[bench_scale((uint32_t)(random >> 32), blocks)];
        if (*at) f->checksum += bench_free(*at);
        *at = bench_alloc(LOW + bench_scale((uint32_t)random, HIGH - LOW + 1), random);
    }
    if (!first) pthread_join(predecessor, NULL);
    f->predecessor = pthread_self();
    if (++f->generation == params[GENERATIONS].value) {
        sem_post(&families_done);
    } else {
        pthread_t successor;
        bench_spawn(&successor, generation, f);
    }
    return NULL;
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_larson", params,
                          "Like a server: a thread replaces random blocks of 8 to 500 bytes, then "
                          "starts its successor, which inherits the blocks, and ends.");
    uint64_t families = params[THREADS].value, blocks = params[BLOCKS].value, checksum = 0;
    family *all = bench_check(calloc(families, sizeof *all));
    sem_init(&families_done, 0, 0);
    uint64_t begin = bench_now();
    for (uint64_t i = 0; i < families; i++) {
        pthread_t first;
        all[i].block = bench_check(calloc(blocks, sizeof *all[i].block));
        all[i].rng = bench_rng_seed(params[SEED].value + i);
        bench_spawn(&first, generation, &all[i]);
    }
    for (uint64_t i = 0; i < families; i++)
        while (sem_wait(&families_done) != 0) continue;
    for (uint64_t i = 0; i < families; i++) pthread_join(all[i].predecessor, NULL);
    uint64_t ns = bench_now() - begin;
    for (uint64_t i = 0; i < families; i++) {
        for (uint64_t k = 0; k < blocks; k++)
            if (all[i].block[k]) all[i].checksum += bench_free(all[i].block[k]);
        checksum += all[i].checksum;
        free(all[i].block);
    }
    free(all);
    return bench_report(&b, families * params[GENERATIONS].value * params[CYCLES].value, ns,
                        checksum);
}
