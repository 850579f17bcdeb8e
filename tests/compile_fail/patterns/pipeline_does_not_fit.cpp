// each: types sink source empty
// expect: garrick:
// expect: stages_do_not_fit<1, int, |a_sink_is_not_the_last<2|a_source_is_not_the_first<2|a pipeline has at least one stage
// The stages of a pipeline fit: each takes the output of the one before it.
#include <garrick/patterns/patterns.hpp>

#include <string>

using namespace garrick::patterns;

int length(std::string text) { return static_cast<int>(text.size()); }
int twice(int x) { return 2 * x; }
void drop(int) {}
void show(std::string) {}

void test(garrick::actor_system& system) {
#ifdef GARRICK_WITHOUT_types
  static_cast<void>(spawn(system, pipeline(length, show)));
#elif defined(GARRICK_WITHOUT_sink)
  static_cast<void>(spawn(system, pipeline(twice, drop, drop)));
#elif defined(GARRICK_WITHOUT_source)
  static_cast<void>(spawn(system, pipeline(twice, counting(1, 7), drop)));
#elif defined(GARRICK_WITHOUT_empty)
  static_cast<void>(spawn(system, pipeline()));
#else
  static_cast<void>(spawn(system, pipeline(counting(1, 7), twice, farm(twice), drop)));
#endif
}
