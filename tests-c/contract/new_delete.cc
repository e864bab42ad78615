/* Every form of operator new serves every size, aligned as promised; every matching delete takes the block back. */
//@ modes=system,preload,static,full rows=M03,A07
#include "operators.h"

int main() {
  static size_t sizes[2048];
  size_t count = edge_sizes(sizes, 2048, 512 * KIB);
  for (const New &make : news)
    for (const Delete &drop : deletes) {
      if (make.aligned != drop.aligned) continue;
      for (size_t i = 0; i < count; i++) {
        void *block = make.allocate(sizes[i]);
        if (block == nullptr) fail("%s: %zu bytes refused", make.name, sizes[i]);
        if (!is_aligned(block, make.aligned ? 64 : 16)) fail("%s: %zu bytes at %p", make.name, sizes[i], block);
        size_t head = sizes[i] < 4096 ? sizes[i] : 4096;
        stamp(block, head, i);
        CHECK(holds(block, head, i));
        drop.release(block, sizes[i]);
      }
      drop.release(nullptr, 100);
    }
  /* Zero bytes twice are two objects. */
  for (const New &make : news) {
    void *first = make.allocate(0), *second = make.allocate(0);
    CHECK(first != nullptr && second != nullptr && first != second);
    (make.aligned ? deletes[6] : deletes[0]).release(first, 0);
    (make.aligned ? deletes[6] : deletes[0]).release(second, 0);
  }
  for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
    void *block = ::operator new(40, std::align_val_t{alignment});
    CHECK(is_aligned(block, alignment));
    stamp(block, 40, alignment);
    ::operator delete(block, 40, std::align_val_t{alignment});
  }
  return 0;
}
