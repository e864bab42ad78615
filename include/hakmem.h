/*
 * hakmem: the allocator's own API. libhakmem.so and libhakmem.a also define malloc and its family, and C++ operator
 * new and delete; their declarations are those of <stdlib.h>, <malloc.h> and <new>.
 *
 * Generated from hakmem-preload/src/exports_hak.rs; "make header" after a change there.
 */

#ifndef HAKMEM_H
#define HAKMEM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define HAK_NOEXCEPT noexcept
#elif defined(__GNUC__)
#define HAK_NOEXCEPT __attribute__((__nothrow__))
#else
#define HAK_NOEXCEPT
#endif

/* Which parameter says how long the block is, so that compilers can check its use. */
#if defined(__GNUC__)
#define HAK_ALLOC_SIZE(...) __attribute__((__alloc_size__(__VA_ARGS__), __warn_unused_result__))
#define HAK_ALLOC_ALIGNED(alignment, size) \
    __attribute__((__alloc_align__(alignment), __alloc_size__(size), __warn_unused_result__))
#else
#define HAK_ALLOC_SIZE(...)
#define HAK_ALLOC_ALIGNED(alignment, size)
#endif

/**
 * Largest size that hak_tiny_alloc serves, in bytes.
 */
#define HAK_TINY_MAX 1024

/**
 * Statistics of the process. All sizes in bytes. Later versions add fields at the end.
 */
struct hak_stats {
    /**
     * Set to sizeof(struct hak_stats) before the call; says afterwards how many bytes of the structure were filled.
     */
    size_t size;
    /**
     * Mapped from the system.
     */
    size_t mapped;
    /**
     * In blocks that the program holds, rounded up to block sizes; without those that have a mapping of their own.
     */
    size_t live;
    /**
     * In the caches of the threads.
     */
    size_t cached;
    /**
     * Free inside slabs.
     */
    size_t free_in_slabs;
    /**
     * In free spans and mappings that are kept resident for reuse.
     */
    size_t retained;
    /**
     * In hakmem's own records.
     */
    size_t metadata;
    /**
     * In blocks that have a mapping of their own.
     */
    size_t huge_live;
    /**
     * Number of blocks that have a mapping of their own.
     */
    size_t huge_count;
    /**
     * Number of heaps ever made: the most threads at once.
     */
    size_t heaps;
    /**
     * Number of slabs.
     */
    size_t slabs;
    /**
     * System calls that map memory.
     */
    uint64_t os_map;
    /**
     * System calls that unmap memory.
     */
    uint64_t os_unmap;
    /**
     * System calls that give pages back.
     */
    uint64_t os_purge;
    /**
     * Those of them that the system refused.
     */
    uint64_t os_purge_failed;
    /**
     * System calls that grow or move a mapping.
     */
    uint64_t os_remap;
    /**
     * System calls that ask for huge pages.
     */
    uint64_t os_advise;
    /**
     * Calls that a thread's cache couldn't answer, by entry point: malloc and operator new.
     */
    uint64_t cold_malloc;
    /**
     * free and operator delete.
     */
    uint64_t cold_free;
    /**
     * calloc.
     */
    uint64_t cold_calloc;
    /**
     * realloc.
     */
    uint64_t cold_realloc;
    /**
     * aligned_alloc and the like.
     */
    uint64_t cold_aligned;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Allocates `size` bytes, whatever the program's `malloc` is bound to.
 *
 * Alignment: 16. Size 0 gives a block of its own. Release with hak_free; free works as well where it is hakmem's.
 * Returns NULL with errno ENOMEM when there is no memory or `size` exceeds PTRDIFF_MAX.
 * Thread-safe, and safe in the child of a fork.
 */
void *hak_malloc(size_t size)
HAK_NOEXCEPT HAK_ALLOC_SIZE(1);

/**
 * Releases a block; NULL is fine. errno is kept. Thread-safe: any thread may release any block.
 *
 * `block` is NULL or a live block of hakmem. Another address is reported as docs/MISUSE.md says.
 */
void hak_free(void *block) HAK_NOEXCEPT;

/**
 * Allocates `count` times `size` bytes, all zero. As hak_malloc otherwise; a product that overflows gives NULL with
 * errno ENOMEM.
 */
void *hak_calloc(size_t count,
                 size_t size)
HAK_NOEXCEPT HAK_ALLOC_SIZE(1, 2);

/**
 * Makes a block `size` bytes long, in place or by moving it; its content up to the smaller of both sizes is kept.
 *
 * NULL as block is hak_malloc. Size 0 releases the block and returns NULL. On failure NULL with errno ENOMEM, and the
 * block is as before. Alignment beyond 16 is not kept when the block moves.
 *
 * The block is as for hak_free.
 */
void *hak_realloc(void *block,
                  size_t size)
HAK_NOEXCEPT HAK_ALLOC_SIZE(2);

/**
 * Allocates `size` bytes at a multiple of `alignment`, which is a power of two; the size need not be a multiple of it.
 *
 * Returns NULL with errno EINVAL for another alignment, and with ENOMEM when there is no memory. Release with hak_free.
 */
void *hak_aligned_alloc(size_t alignment,
                        size_t size)
HAK_NOEXCEPT HAK_ALLOC_ALIGNED(1, 2);

/**
 * Bytes that may be used in a block: at least the size it was asked for with, and the same for as long as it lives.
 * 0 for NULL.
 *
 * The block is as for hak_free.
 */
size_t hak_usable_size(const void *block)
HAK_NOEXCEPT;

/**
 * hak_malloc for small blocks only: more than HAK_TINY_MAX bytes give NULL with errno EINVAL.
 */
void *hak_tiny_alloc(size_t size) HAK_NOEXCEPT HAK_ALLOC_SIZE(1);

/**
 * hak_tiny_alloc past the thread's cache: the block comes from its slab. For tests and measurements.
 */
void *hak_tiny_alloc_superslab(size_t size)
HAK_NOEXCEPT HAK_ALLOC_SIZE(1);

/**
 * The version of the library, "MAJOR.MINOR.PATCH". The string lives as long as the process.
 */
const char *hak_version(void) HAK_NOEXCEPT;

/**
 * Fills `*stats` as far as its field `size` allows. Returns 0, or -1 with errno EINVAL when `stats` is NULL or that
 * size can't be right. Thread-safe; the figures of busy threads may be a moment apart. Don't call it from a signal
 * handler.
 *
 * `stats` points to as many bytes as its field `size` says.
 */
int hak_stats_get(struct hak_stats *stats)
HAK_NOEXCEPT;

/**
 * Writes the statistics as a table to a file descriptor. Returns 0, or -1 when the descriptor refuses; errno is kept.
 */
int hak_stats_print(int fd)
HAK_NOEXCEPT;

/**
 * Gives all free memory back to the system at once. Returns 1 if any went back, else 0. Thread-safe.
 */
int hak_trim(void)
HAK_NOEXCEPT;

/**
 * Walks all of hakmem's records and checks that they agree. Returns 0, or -1 after a message on standard error that
 * says what is wrong: something has overwritten memory that isn't its own. errno is kept. Other threads may run
 * meanwhile; the locks are taken one at a time.
 */
int hak_check(void)
HAK_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HAKMEM_H */
