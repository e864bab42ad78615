// bench.h - what every benchmark shares: arguments, random numbers, clock, counters, report.
//
// A program declares a table of parameters, calls bench_begin(), times its loop with
// bench_now() and ends with bench_report(). The checksum it reports depends on the parameters
// only, never on addresses, so two allocators that both work print the same one.
#ifndef HAKMEM_BENCH_H
#define HAKMEM_BENCH_H

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

// ---- random numbers -------------------------------------------------------------------------

typedef struct {
    uint64_t state;
} bench_rng;

static inline bench_rng bench_rng_seed(uint64_t seed) {
    // One splitmix64 step: neighbouring seeds must not give neighbouring streams, nor state 0.
    uint64_t z = seed + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (bench_rng){z ? z : 1};
}

// xorshift64*; the high half is the better one.
static inline uint64_t bench_rng_next(bench_rng *rng) {
    uint64_t x = rng->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return x * 0x2545f4914f6cdd1du;
}

// Maps 32 random bits to [0, n) with a multiplication instead of a division.
static inline uint32_t bench_scale(uint32_t random, uint32_t n) {
    return (uint32_t)(((uint64_t)random * n) >> 32);
}

static inline uint32_t bench_rng_below(bench_rng *rng, uint32_t n) {
    return bench_scale((uint32_t)(bench_rng_next(rng) >> 32), n);
}

static inline size_t bench_rng_between(bench_rng *rng, uint32_t low, uint32_t high) {
    return low + bench_rng_below(rng, high - low + 1);
}

// ---- clock, memory, failure -----------------------------------------------------------------

static inline uint64_t bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noreturn, cold, noinline, unused)) static void bench_die(const char *what) {
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

static inline void *bench_check(void *block) {
    if (__builtin_expect(block == NULL, 0)) bench_die("out of memory");
    return block;
}

// Writes the first and the last byte of a block; bench_free reads the first one back.
static inline unsigned char *bench_touch(void *block, size_t size, uint64_t tag) {
    unsigned char *bytes = bench_check(block);
    bytes[size - 1] = (unsigned char)(tag >> 8);
    bytes[0] = (unsigned char)tag;
    return bytes;
}

static inline unsigned char *bench_alloc(size_t size, uint64_t tag) {
    return bench_touch(malloc(size), size, tag);
}

static inline uint64_t bench_free(unsigned char *block) {
    uint64_t first = block[0];
    free(block);
    return first;
}

// A "Name:  123 kB" line of /proc/self/status. getrusage's ru_maxrss would survive exec and so
// report the parent's size; VmHWM belongs to this program alone.
static inline uint64_t bench_status_kib(const char *name) {
    char line[128];
    uint64_t kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    if (!status) bench_die("/proc/self/status");
    size_t length = strlen(name);
    while (fgets(line, sizeof line, status))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            kib = strtoull(line + length + 1, NULL, 10);
    fclose(status);
    return kib;
}

// ---- parameters -----------------------------------------------------------------------------

typedef struct {
    const char *name;
    uint64_t normal; // default
    uint64_t quick;  // default under --quick
    uint64_t min, max;
    const char *help;
    const char *words; // "lifo|fifo": the value is the index of the word given
    const char *env;   // environment variable that replaces the default
    uint64_t value;
} bench_param;

#define BENCH_NUMBER(NAME, NORMAL, QUICK, MIN, MAX, HELP) \
    {.name = NAME, .normal = NORMAL, .quick = QUICK, .min = MIN, .max = MAX, .help = HELP}
#define BENCH_WORD(NAME, WORDS, HELP) {.name = NAME, .words = WORDS, .help = HELP}
#define BENCH_SEED BENCH_NUMBER("seed", 42, 42, 0, UINT64_MAX, "seed of the random numbers")
#define BENCH_THREADS(NORMAL) \
    BENCH_NUMBER("threads", NORMAL, NORMAL, 1, 256, "threads that run at the same time")

#define BENCH_MAX_EXTRAS 4

typedef struct {
    const char *name;
    bench_param *params;
    int count;
    bool json;
    struct {
        const char *name;
        double value;
    } extras[BENCH_MAX_EXTRAS];
    int extra_count;
} bench;

__attribute__((noreturn, cold, format(printf, 2, 3))) static void bench_usage_error(
    const bench *b, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", b->name);
    vfprintf(stderr, format, list);
    fprintf(stderr, " (see %s --help)\n", b->name);
    va_end(list);
    exit(2);
}

static void bench_help(const bench *b, const char *summary) {
    printf("%s", b->name);
    for (int i = 0; i < b->count; i++) printf(" [%s]", b->params[i].name);
    printf("\n%s\n\nParameters, by position or as --name=value:\n", summary);
    for (int i = 0; i < b->count; i++) {
        const bench_param *p = &b->params[i];
        printf("  %-14s %s (", p->name, p->help);
        if (p->words)
            printf("%s; default the first)\n", p->words);
        else
            printf("default %" PRIu64 ", %" PRIu64 " with --quick)\n", p->normal, p->quick);
        if (p->env) printf("  %-14s its default can be set with %s\n", "", p->env);
    }
    printf("\n  --quick        small defaults, for a functional check\n"
           "  --json         one line of JSON instead of one for people\n"
           "  --help         this text\n");
    exit(0);
}

static void bench_set_word(const bench *b, bench_param *p, const char *text) {
    size_t length = strlen(text);
    uint64_t index = 0;
    for (const char *word = p->words;; index++) {
        size_t word_length = strcspn(word, "|");
        if (word_length == length && strncmp(word, text, length) == 0) break;
        if (word[word_length] == '\0')
            bench_usage_error(b, "%s: '%s' is none of %s", p->name, text, p->words);
        word += word_length + 1;
    }
    p->value = index;
}

static void bench_set(const bench *b, bench_param *p, const char *source, const char *text) {
    if (p->words) {
        bench_set_word(b, p, text);
        return;
    }
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    // strtoull would accept a blank, a sign and wrap "-1" around.
    if (text[0] < '0' || text[0] > '9' || *end != '\0')
        bench_usage_error(b, "%s: '%s' is not a whole number", source, text);
    if (errno == ERANGE || value < p->min || value > p->max)
        bench_usage_error(b, "%s: %s is outside %" PRIu64 "..%" PRIu64, source, text, p->min,
                          p->max);
    p->value = value;
}

static bench_param *bench_find(const bench *b, const char *name, size_t length) {
    for (int i = 0; i < b->count; i++)
        if (strlen(b->params[i].name) == length && strncmp(b->params[i].name, name, length) == 0)
            return &b->params[i];
    bench_usage_error(b, "unknown option --%.*s", (int)length, name);
}

#define BENCH_BEGIN(ARGC, ARGV, NAME, PARAMS, SUMMARY) \
    bench_begin(ARGC, ARGV, NAME, PARAMS, (int)(sizeof PARAMS / sizeof PARAMS[0]), SUMMARY)

static bench bench_begin(int argc, char **argv, const char *name, bench_param *params, int count,
                         const char *summary) {
    bench b = {.name = name, .params = params, .count = count};
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) bench_help(&b, summary);
        if (strcmp(argv[i], "--quick") == 0) quick = true;
        if (strcmp(argv[i], "--json") == 0) b.json = true;
    }
    for (int i = 0; i < count; i++) {
        bench_param *p = &params[i];
        const char *text = p->env ? getenv(p->env) : NULL;
        p->value = quick ? p->quick : p->normal;
        if (text) bench_set(&b, p, p->env, text);
    }
    int position = 0;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--quick") == 0 || strcmp(arg, "--json") == 0) continue;
        if (strncmp(arg, "--", 2) == 0) {
            size_t length = strcspn(arg + 2, "=");
            bench_param *p = bench_find(&b, arg + 2, length);
            if (arg[2 + length] != '=') bench_usage_error(&b, "%s needs =VALUE", arg);
            bench_set(&b, p, p->name, arg + 2 + length + 1);
        } else if (position < count) {
            bench_set(&b, &params[position], params[position].name, arg);
            position++;
        } else {
            bench_usage_error(&b, "too many arguments: '%s'", arg);
        }
    }
    return b;
}

// ---- report ---------------------------------------------------------------------------------

// A figure of this program alone, printed after the common ones.
__attribute__((unused)) static void bench_extra(bench *b, const char *name, double value) {
    if (b->extra_count == BENCH_MAX_EXTRAS) abort();
    b->extras[b->extra_count].name = name;
    b->extras[b->extra_count].value = value;
    b->extra_count++;
}

static void bench_print_param(const bench *b, const bench_param *p) {
    if (!p->words) {
        printf("%" PRIu64, p->value);
        return;
    }
    const char *word = p->words;
    for (uint64_t i = 0; i < p->value; i++) word = strchr(word, '|') + 1;
    printf(b->json ? "\"%.*s\"" : "%.*s", (int)strcspn(word, "|"), word);
}

static int bench_report(const bench *b, uint64_t operations, uint64_t ns, uint64_t checksum) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t peak = bench_status_kib("VmHWM");
    double per_operation = (double)ns / (double)operations;
    printf(b->json ? "{\"bench\":\"%s\",\"params\":{" : "%s", b->name);
    for (int i = 0; i < b->count; i++) {
        printf(b->json ? (i ? ",\"%s\":" : "\"%s\":") : " %s=", b->params[i].name);
        bench_print_param(b, &b->params[i]);
    }
    printf(b->json ? "},\"operations\":%" PRIu64 ",\"seconds\":%.6f,\"ns_per_op\":%.3f,"
                     "\"checksum\":\"%016" PRIx64 "\",\"peak_rss_kib\":%" PRIu64
                     ",\"minor_faults\":%ld,\"major_faults\":%ld"
                   : ": %" PRIu64 " operations in %.3f s, %.2f ns each, checksum %016" PRIx64
                     ", peak %" PRIu64 " KiB, %ld+%ld page faults",
           operations, (double)ns / 1e9, per_operation, checksum, peak, usage.ru_minflt,
           usage.ru_majflt);
    for (int i = 0; i < b->extra_count; i++)
        printf(b->json ? ",\"%s\":%.2f" : ", %s %.2f", b->extras[i].name, b->extras[i].value);
    printf(b->json ? "}\n" : "\n");
    return fflush(stdout) == 0 ? 0 : 1;
}

#endif
