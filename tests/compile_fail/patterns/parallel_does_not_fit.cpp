// each: takes puts_out source fold empty broadcast
// expect: garrick:
// expect: parallel_parts_take_different_types<2, int, long|parallel_parts_put_out_different_types<3, int, long|parallel_part_is_a_source<1|parallel_part_is_a_fold<2|at least one part|gets a copy of the tuple
// The parts of parallel take and put out the same; each gets a copy, unless `by` shares them.
#include <garrick/patterns/patterns.hpp>

#include <memory>

using namespace garrick::patterns;

using owner = std::unique_ptr<int>;
int twice(int x) { return 2 * x; }
long lengthened(int x) { return x; }
int shortened(long x) { return static_cast<int>(x); }
std::size_t first(const owner&, std::size_t) { return 0; }

void test(garrick::actor_system& system) {
#ifdef GARRICK_WITHOUT_takes
  static_cast<void>(parallel(twice, shortened));
#elif defined(GARRICK_WITHOUT_puts_out)
  static_cast<void>(pipeline(parallel(twice, twice, lengthened), discard<int>()));
#elif defined(GARRICK_WITHOUT_source)
  static_cast<void>(parallel(counting(1, 7), twice));
#elif defined(GARRICK_WITHOUT_fold)
  static_cast<void>(parallel(discard<int>(), fold(0, [](int a, int b) { return a + b; })));
#elif defined(GARRICK_WITHOUT_empty)
  static_cast<void>(parallel());
#elif defined(GARRICK_WITHOUT_broadcast)
  static_cast<void>(farm(parallel(discard<owner>(), discard<owner>())));
#else
  static_cast<void>(spawn(system, pipeline(parallel(twice, twice), discard<int>())));
  static_cast<void>(spawn(system, parallel(discard<owner>(), discard<owner>()).by(first)));
#endif
}
