/* Sized release with a wrong size (a base class without virtual destructor, 0, 1, too much) never harms the heap. */
//@ modes=preload,static rows=A08,H07
//@ case small args="small"
//@ case large args="large"
#include "operators.h"

struct Base {
  int value = 1;
};
struct Derived : Base {
  char more[500] = {2};
};

int main(int, char **arguments) {
  size_t size = strcmp(arguments[1], "small") == 0 ? 200 : 3 * MIB;
  const size_t wrong[] = {0, 1, size / 2, size - 1, size + 1, size * 2, size * 1000};
  for (int round = 0; round < 50; round++) {
    for (size_t lie : wrong) {
      for (const Delete &drop : deletes) {
        void *block = drop.aligned ? ::operator new(size, OVER) : ::operator new(size);
        drop.release(block, lie);
      }
      free_sized(malloc(size), lie);
      free_aligned_sized(aligned_alloc(64, size), 64, lie);
    }
    Base *object = new Derived;
    delete static_cast<Base *>(keep(object));
  }
  enum { COUNT = 2000 };
  static void *blocks[COUNT];
  for (int i = 0; i < COUNT; i++) stamp(blocks[i] = malloc(size % 5000 + 1), size % 5000 + 1, i);
  for (int i = 0; i < COUNT; i++) CHECK(holds(blocks[i], size % 5000 + 1, i));
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  return 0;
}
