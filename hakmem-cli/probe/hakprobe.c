// hakprobe.c - a preload library that testifies which allocator a process really uses.
//
// `hak` loads it behind the allocator under test and names a file in HAK_PROBE. The probe
// appends one line of JSON to it when the process ends normally and, if HAK_PROBE_START is set,
// one when it starts. It allocates nothing before the end, links to nothing but libc and defines
// no allocation function.
//
// What it records:
//   bindings  the library that a call of malloc, free, ... from an ordinary library ends in: the
//             jump slots of the probe itself, which ld.so filled in by the same rules as anyone's.
//   heap      bytes in glibc's own heap, asked of libc itself: 0 if nobody ever allocated there,
//             whatever the names are bound to. `probed` is the same after the probe allocated.
//   versions  what the allocator says about itself through its own interface.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- functions whose binding is recorded ----------------------------------------------------

#define WEAK __attribute__((weak))

// Allocators and C++ runtimes that are absent leave these null.
extern void *_Znwm(size_t) WEAK;
extern void *_Znam(size_t) WEAK;
extern void _ZdlPv(void *) WEAK;
extern void _ZdaPv(void *) WEAK;
extern int mi_version(void) WEAK;
extern int mallctl(const char *, void *, size_t *, void *, size_t) WEAK;
extern const char *tc_version(int *, int *, const char **) WEAK;

static const char *const RECORDED[] = {
    "malloc",        "free",           "calloc",             "realloc", "memalign",
    "aligned_alloc", "posix_memalign", "malloc_usable_size", "_Znwm",   "_Znam",
    "_ZdlPv",        "_ZdaPv",
};
enum { C_COUNT = 8, RECORDED_COUNT = sizeof RECORDED / sizeof *RECORDED };

typedef struct {
    const struct link_map *object[RECORDED_COUNT]; // null: nobody defines the function
} bindings;

static void *volatile sink;
static volatile size_t usable;

// Every allocation function once: the linker gives the probe a jump slot for each, and at the end
// of the process none of them may have grown libc's heap.
static __attribute__((noinline)) void use_all(bool with_cxx) {
    void *block = NULL;
    sink = malloc(40);
    sink = realloc(sink, 400);
    free(sink);
    sink = calloc(3, 50);
    free(sink);
    sink = memalign(64, 100);
    usable = malloc_usable_size(sink);
    free(sink);
    sink = aligned_alloc(64, 128);
    free(sink);
    if (posix_memalign(&block, 64, 100) == 0) free(block);
    if (with_cxx) {
        sink = _Znwm(24);
        _ZdlPv(sink);
        sink = _Znam(24);
        _ZdaPv(sink);
    }
}

static ElfW(Addr) slot_value(const struct link_map *self, const char *name) {
    const ElfW(Rela) *slots = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    size_t bytes = 0;
    for (const ElfW(Dyn) *d = self->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_JMPREL) slots = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_PLTRELSZ) bytes = d->d_un.d_val;
        if (d->d_tag == DT_SYMTAB) symbols = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB) strings = (const void *)d->d_un.d_ptr;
    }
    for (size_t i = 0; slots && i < bytes / sizeof *slots; i++) {
        const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(slots[i].r_info)];
        if (strcmp(strings + symbol->st_name, name) == 0)
            return *(const ElfW(Addr) *)(self->l_addr + slots[i].r_offset);
    }
    return 0;
}

// ---- one line of JSON, built on the stack ---------------------------------------------------

typedef struct {
    char text[16384];
    size_t length;
} line;

__attribute__((format(printf, 2, 3))) static void put(line *l, const char *format, ...) {
    va_list list;
    va_start(list, format);
    size_t room = sizeof l->text - l->length;
    int n = vsnprintf(l->text + l->length, room, format, list);
    va_end(list);
    if (n > 0) l->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void put_string(line *l, const char *s) {
    put(l, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || c < 0x20)
            put(l, "\\u%04x", c);
        else
            put(l, "%c", c);
    }
    put(l, "\"");
}

static const struct link_map *object_of(const void *address) {
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static bindings read_bindings(void) {
    bindings b = {{NULL}};
    // Data of the probe's own: a function's address could be a PLT entry of the executable.
    const struct link_map *self = object_of(RECORDED);
    for (int i = 0; self && i < RECORDED_COUNT; i++) {
        ElfW(Addr) target = slot_value(self, RECORDED[i]);
        if (target) b.object[i] = object_of((const void *)target);
    }
    return b;
}

// A block from one allocator in another one's hands would end the process.
static bool agree(const bindings *b, int from, int to) {
    for (int i = from; i < to; i++)
        if (!b->object[i] || b->object[i] != b->object[from]) return false;
    return true;
}

static void put_bindings(line *l, const bindings *b) {
    char path[PATH_MAX];
    put(l, ",\"bindings\":{");
    for (int i = 0; i < RECORDED_COUNT; i++) {
        put(l, i ? ",\"%s\":" : "\"%s\":", RECORDED[i]);
        if (!b->object[i]) {
            put(l, "null");
            continue;
        }
        const char *name = b->object[i]->l_name[0] ? b->object[i]->l_name : "/proc/self/exe";
        put_string(l, realpath(name, path) ? path : name);
    }
    put(l, "}");
}

// mallinfo2 is looked up in libc's own handle: the allocator may export one that answers for itself.
static struct mallinfo2 (*libc_mallinfo2(void))(void) {
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return libc ? (struct mallinfo2(*)(void))dlsym(libc, "mallinfo2") : NULL;
}

static void put_heap(line *l, const char *name, struct mallinfo2 (*ask)(void)) {
    if (!ask) {
        put(l, ",\"%s\":null", name);
        return;
    }
    struct mallinfo2 info = ask();
    put(l, ",\"%s\":%zu", name, info.arena + info.hblkhd);
}

static void put_versions(line *l) {
    const char *text = NULL;
    size_t size = sizeof text;
    put(l, ",\"versions\":{\"hakprobe\":\"1\"");
    if (mi_version) put(l, ",\"mi_version\":\"%d\"", mi_version());
    if (mallctl && mallctl("version", &text, &size, NULL, 0) == 0) {
        put(l, ",\"mallctl\":");
        put_string(l, text);
    }
    if (tc_version) {
        int major = 0, minor = 0;
        put(l, ",\"tc_version\":");
        put_string(l, tc_version(&major, &minor, &text));
    }
    put(l, "}");
}

static void put_peak(line *l) {
    char text[2048];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *peak = strstr(text, "VmHWM:");
    if (peak) put(l, ",\"peak_rss_kib\":%lu", strtoul(peak + 6, NULL, 10));
}

static void testify(bool at_end) {
    const char *file = getenv("HAK_PROBE");
    if (!file || !*file) return;
    int saved = errno;
    line l = {.length = 0};
    char exe[PATH_MAX] = "";
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) exe[0] = '\0';
    put(&l, "{\"hakprobe\":1,\"event\":\"%s\",\"pid\":%d,\"ppid\":%d,\"exe\":",
        at_end ? "exit" : "start", (int)getpid(), (int)getppid());
    put_string(&l, exe);
    if (at_end) put_peak(&l); // before anything here can raise it
    bindings b = read_bindings();
    put_bindings(&l, &b);
    if (at_end) {
        struct mallinfo2 (*ask)(void) = libc_mallinfo2();
        put_heap(&l, "heap", ask);
        if (agree(&b, 0, C_COUNT)) {
            use_all(agree(&b, C_COUNT, RECORDED_COUNT));
            put_heap(&l, "probed", ask);
        }
        put_versions(&l);
    }
    put(&l, "}\n");
    int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) {
        // One write: lines of several processes must not mix.
        if (write(fd, l.text, l.length) < 0) errno = 0;
        close(fd);
    }
    errno = saved;
}

__attribute__((constructor)) static void at_start(void) {
    if (getenv("HAK_PROBE_START")) testify(false);
}

__attribute__((destructor)) static void at_exit(void) { testify(true); }
