/* A chained hash table that grows by realloc and duplicates strings through the C library. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char *key;
    unsigned value;
};

struct table {
    struct entry **slots;
    size_t size, count;
};

static uint64_t state = 42;

static unsigned next_number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

static size_t hash(const char *key)
{
    size_t h = 14695981039346656037u;
    while (*key)
        h = (h ^ (unsigned char)*key++) * 1099511628211u;
    return h;
}

static void grow(struct table *table)
{
    size_t size = table->size ? table->size * 2 : 16;
    struct entry **slots = calloc(size, sizeof *slots);
    if (!slots)
        abort();
    for (size_t i = 0; i < table->size; i++) {
        for (struct entry *entry = table->slots[i], *next; entry; entry = next) {
            next = entry->next;
            struct entry **slot = &slots[hash(entry->key) & (size - 1)];
            entry->next = *slot;
            *slot = entry;
        }
    }
    free(table->slots);
    table->slots = slots;
    table->size = size;
}

static struct entry *find(struct table *table, const char *key)
{
    if (table->count >= table->size)
        grow(table);
    struct entry **slot = &table->slots[hash(key) & (table->size - 1)];
    for (struct entry *entry = *slot; entry; entry = entry->next)
        if (!strcmp(entry->key, key))
            return entry;
    struct entry *entry = malloc(sizeof *entry);
    if (!entry || !(entry->key = strdup(key)))
        abort();
    entry->next = *slot;
    entry->value = 0;
    *slot = entry;
    table->count++;
    return entry;
}

int main(void)
{
    struct table table = {0};
    char *line = NULL;
    size_t length = 0, total = 0;
    for (int i = 0; i < 400000; i++) {
        char *key;
        if (asprintf(&key, "%*u", (int)(next_number() % 60 + 1), next_number() % 50000) < 0)
            abort();
        find(&table, key)->value += next_number() % 10;
        size_t need = strlen(key) + 1;
        if (length + need > 1u << 20) {
            free(line);
            line = NULL;
            length = 0;
        }
        if (!(line = realloc(line, length + need)))
            abort();
        memcpy(line + length, key, need);
        length += need;
        total += need;
        free(key);
    }
    size_t sum = 0;
    for (size_t i = 0; i < table.size; i++) {
        for (struct entry *entry = table.slots[i], *next; entry; entry = next) {
            next = entry->next;
            sum = sum * 31 + hash(entry->key) * entry->value;
            free(entry->key);
            free(entry);
        }
    }
    printf("%zu keys, %zu bytes, sum %zx\n", table.count, total, sum);
    free(table.slots);
    free(line);
    return 0;
}
