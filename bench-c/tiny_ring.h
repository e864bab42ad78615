// tiny_ring.h - the loop of bench_tiny and bench_tiny_mt: a ring of tiny blocks, oldest dies first.
#ifndef HAKMEM_BENCH_TINY_RING_H
#define HAKMEM_BENCH_TINY_RING_H

#include "bench.h"

#define TINY_RING_LIVE 256
#define TINY_RING_MIN 8
#define TINY_RING_MAX 128

static inline uint64_t tiny_ring(uint64_t cycles, uint64_t seed) {
    unsigned char *ring[TINY_RING_LIVE] = {NULL};
    bench_rng rng = bench_rng_seed(seed);
    uint64_t checksum = 0;
    for (uint64_t i = 0; i < cycles; i++) {
        unsigned char **at = &ring[i % TINY_RING_LIVE];
        if (*at) checksum += bench_free(*at);
        *at = bench_alloc(bench_rng_between(&rng, TINY_RING_MIN, TINY_RING_MAX), i);
    }
    for (int i = 0; i < TINY_RING_LIVE; i++)
        if (ring[i]) checksum += bench_free(ring[i]);
    return checksum;
}

#endif
