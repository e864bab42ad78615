// threads.h - runs one function on several threads and times it from a common start.
#ifndef HAKMEM_BENCH_THREADS_H
#define HAKMEM_BENCH_THREADS_H

#include "bench.h"

#include <pthread.h>

typedef struct {
    unsigned index;
    const bench_param *params;
    uint64_t checksum;
    void *shared;
} bench_worker;

typedef void (*bench_body)(bench_worker *);

typedef struct {
    bench_worker worker;
    bench_body body;
    pthread_barrier_t *start;
    pthread_t thread;
    uint64_t began, ended;
} bench_thread;

static void *bench_thread_main(void *argument) {
    bench_thread *t = argument;
    pthread_barrier_wait(t->start);
    t->began = bench_now();
    t->body(&t->worker);
    t->ended = bench_now();
    return NULL;
}

static void bench_spawn(pthread_t *thread, void *(*body)(void *), void *argument) {
    errno = pthread_create(thread, NULL, body, argument);
    if (errno) bench_die("pthread_create");
}

// Returns the nanoseconds from the first thread's start to the last one's end; adds their
// checksums to *checksum.
__attribute__((unused)) static uint64_t bench_run_threads(unsigned count, bench_body body,
                                                          const bench_param *params, void *shared,
                                                          uint64_t *checksum) {
    pthread_barrier_t start;
    bench_thread *threads = bench_check(calloc(count, sizeof *threads));
    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        threads[i] = (bench_thread){{i, params, 0, shared}, body, &start, 0, 0, 0};
        bench_spawn(&threads[i].thread, bench_thread_main, &threads[i]);
    }
    uint64_t began = UINT64_MAX, ended = 0;
    for (unsigned i = 0; i < count; i++) {
        bench_thread *t = &threads[i];
        pthread_join(t->thread, NULL);
        if (t->began < began) began = t->began;
        if (t->ended > ended) ended = t->ended;
        *checksum += t->worker.checksum;
    }
    pthread_barrier_destroy(&start);
    free(threads);
    return ended - began;
}

#endif
