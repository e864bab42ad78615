// bench_thread_churn: thousands of short-lived threads that free each other's blocks
#include "threads.h"

#include <stdatomic.h>

enum { THREADS, AT_ONCE, BLOCKS, SEED };
enum { LOW = 16, HIGH = 2048, MAILBOXES = 16 };
static bench_param params[] = {
    [THREADS] = BENCH_NUMBER("threads", 10000, 500, 1, 100000000, "threads started in all"),
    [AT_ONCE] = BENCH_NUMBER("at_once", 8, 8, 1, 256, "threads that live at the same time"),
    [BLOCKS] = BENCH_NUMBER("blocks", 100, 100, 2, 1000000, "blocks each thread allocates"),
    [SEED] = BENCH_SEED,
};

// A letter is the list of blocks one thread leaves to whoever looks into the mailbox next; the
// list runs through the blocks themselves.
typedef struct letter {
    unsigned char tag;
    struct letter *next;
} letter;

static _Atomic(letter *) mailbox[MAILBOXES];
static atomic_uint_fast64_t checksum;

static uint64_t free_all(letter *list) {
    uint64_t sum = 0;
    while (list) {
        letter *next = list->next;
        sum += list->tag;
        free(list);
        list = next;
    }
    return sum;
}

// Frees every second block itself and posts the others.
static void *body(void *argument) {
    uint64_t number = (uint64_t)(uintptr_t)argument;
    bench_rng rng = bench_rng_seed(params[SEED].value + number);
    letter *keep = NULL, *post = NULL;
    for (uint64_t i = 0; i < params[BLOCKS].value; i++) {
        size_t size = bench_rng_between(&rng, LOW, HIGH);
        letter *block = bench_check(malloc(size));
        memset(block, (int)size, size);
        letter **list = i % 2 ? &post : &keep;
        *block = (letter){(unsigned char)bench_rng_next(&rng), *list};
        *list = block;
    }
    uint64_t sum = free_all(keep);
    sum += free_all(atomic_exchange(&mailbox[number % MAILBOXES], post));
    atomic_fetch_add_explicit(&checksum, sum, memory_order_relaxed);
    return NULL;
}

static void run(uint64_t count) {
    pthread_t threads[256];
    uint64_t at_once = params[AT_ONCE].value;
    for (uint64_t done = 0; done < count;) {
        uint64_t wave = count - done < at_once ? count - done : at_once;
        for (uint64_t i = 0; i < wave; i++)
            bench_spawn(&threads[i], body, (void *)(uintptr_t)(done + i));
        for (uint64_t i = 0; i < wave; i++) pthread_join(threads[i], NULL);
        done += wave;
    }
    for (int i = 0; i < MAILBOXES; i++)
        atomic_fetch_add(&checksum, free_all(atomic_exchange(&mailbox[i], NULL)));
}

int main(int argc, char **argv) {
    bench b = BENCH_BEGIN(argc, argv, "bench_thread_churn", params,
                          "Every thread allocates blocks of 16 to 2,048 bytes, frees half of "
                          "them, leaves the rest to a later thread and frees what an earlier one "
                          "left. An operation is one thread.");
    uint64_t start_kib = bench_status_kib("VmRSS");
    uint64_t begin = bench_now();
    run(params[THREADS].value);
    uint64_t ns = bench_now() - begin;
    uint64_t end_kib = bench_status_kib("VmRSS");
    bench_extra(&b, "rss_start_kib", (double)start_kib);
    bench_extra(&b, "rss_end_kib", (double)end_kib);
    return bench_report(&b, params[THREADS].value, ns, checksum);
}
