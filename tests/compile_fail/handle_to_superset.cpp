// expect: superset
// max-lines: clang 34: a conversion that does not exist has no place for an assertion; clang lists every constructor
#include <garrick/garrick.hpp>

struct more {};
using subset = garrick::protocol<void(int)>;
using superset = garrick::protocol<void(int), void(more)>;

#ifdef GARRICK_CONTROL
garrick::ref<subset> test(const garrick::ref<superset>& r) { return r; }
#else
garrick::ref<superset> test(const garrick::ref<subset>& r) { return r; }
#endif
