// What a user of include/hakmem.h writes: it has to compile as C and as C++, link and run.
#include <hakmem.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    char *block = (char *)hak_malloc(100);
    if (!block || hak_usable_size(block) < 100) return 1;
    memset(block, 1, 100);
    hak_free(block);
    return puts(hak_version()) < 0;
}
