// expect: the behavior has no function for this signature of the protocol
// expect: forgotten
#include <garrick/garrick.hpp>

struct forgotten {};
using both = garrick::protocol<void(int), int(forgotten)>;

#ifdef GARRICK_CONTROL
garrick::typed_behavior<both> test() {
  return {[](int) {}, [](forgotten) { return 1; }};
}
#else
garrick::typed_behavior<both> test() {
  return {[](int) {}};
}
#endif
