// each: spawned supervised
// expect: results_go_nowhere<int
// expect: garrick: this pattern's output goes nowhere
// A pattern that is spawned ends with a sink.
#include <garrick/patterns/patterns.hpp>

using namespace garrick::patterns;

int twice(int x) { return 2 * x; }

void test(garrick::actor_system& system) {
#ifdef GARRICK_WITHOUT_spawned
  static_cast<void>(spawn(system, pipeline(counting(1, 7), twice)));
#elif defined(GARRICK_WITHOUT_supervised)
  static_cast<void>(stream_child({.name = "stream"}, pipeline(counting(1, 7), twice)));
#else
  static_cast<void>(spawn(system, pipeline(counting(1, 7), twice, discard<int>())));
#endif
}
