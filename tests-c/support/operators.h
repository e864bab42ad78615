/* All 8 forms of operator new and all 12 of operator delete as tables. */
#ifndef OPERATORS_H
#define OPERATORS_H
#include "test.h"

#include <new>

constexpr auto OVER = std::align_val_t{64};

struct New {
  const char *name;
  void *(*allocate)(size_t);
  bool aligned, throws;
};

static const New news[] = {
    {"new", [](size_t n) { return ::operator new(n); }, false, true},
    {"new[]", [](size_t n) { return ::operator new[](n); }, false, true},
    {"new nothrow", [](size_t n) { return ::operator new(n, std::nothrow); }, false, false},
    {"new[] nothrow", [](size_t n) { return ::operator new[](n, std::nothrow); }, false, false},
    {"new aligned", [](size_t n) { return ::operator new(n, OVER); }, true, true},
    {"new[] aligned", [](size_t n) { return ::operator new[](n, OVER); }, true, true},
    {"new aligned nothrow", [](size_t n) { return ::operator new(n, OVER, std::nothrow); }, true, false},
    {"new[] aligned nothrow", [](size_t n) { return ::operator new[](n, OVER, std::nothrow); }, true, false},
};

struct Delete {
  const char *name;
  void (*release)(void *, size_t);
  bool aligned;
};

static const Delete deletes[] = {
    {"delete", [](void *p, size_t) { ::operator delete(p); }, false},
    {"delete[]", [](void *p, size_t) { ::operator delete[](p); }, false},
    {"delete nothrow", [](void *p, size_t) { ::operator delete(p, std::nothrow); }, false},
    {"delete[] nothrow", [](void *p, size_t) { ::operator delete[](p, std::nothrow); }, false},
    {"delete sized", [](void *p, size_t n) { ::operator delete(p, n); }, false},
    {"delete[] sized", [](void *p, size_t n) { ::operator delete[](p, n); }, false},
    {"delete aligned", [](void *p, size_t) { ::operator delete(p, OVER); }, true},
    {"delete[] aligned", [](void *p, size_t) { ::operator delete[](p, OVER); }, true},
    {"delete aligned nothrow", [](void *p, size_t) { ::operator delete(p, OVER, std::nothrow); }, true},
    {"delete[] aligned nothrow", [](void *p, size_t) { ::operator delete[](p, OVER, std::nothrow); }, true},
    {"delete sized aligned", [](void *p, size_t n) { ::operator delete(p, n, OVER); }, true},
    {"delete[] sized aligned", [](void *p, size_t n) { ::operator delete[](p, n, OVER); }, true},
};

#endif
