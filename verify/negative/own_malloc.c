// A program's own malloc: hands out memory of a fixed arena and never takes any back.
#include <stddef.h>
#include <string.h>

static _Alignas(16) unsigned char arena[256 << 20];
static size_t used;

void *malloc(size_t size) {
    size_t rounded = (size + 31) & ~(size_t)15; // the size is kept in the 16 bytes before a block
    if (rounded > sizeof arena - used) return NULL;
    unsigned char *block = arena + used + 16;
    memcpy(block - 16, &size, sizeof size);
    used += rounded;
    return block;
}

void free(void *block) { (void)block; }

void *calloc(size_t count, size_t size) { return malloc(count * size); }

void *realloc(void *block, size_t size) {
    size_t old = 0;
    if (block) memcpy(&old, (unsigned char *)block - 16, sizeof old);
    void *moved = malloc(size);
    if (moved && block) memcpy(moved, block, old < size ? old : size);
    return moved;
}
