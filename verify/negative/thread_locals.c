// Thread-local data of a kind that a preloaded allocator may not have.
#ifdef LARGE
static __thread volatile char block[4096] __attribute__((tls_model("initial-exec")));
#else
static __thread volatile char block[8] __attribute__((tls_model("global-dynamic")));
#endif
int hak_version_suffix(void) { return block[0]; }
