// each: types again paired
// expect: garrick:
// expect: feedback_types_differ<int, long|feedback_condition_does_not_fit<|zip_beside_no_source<
// The contents of a loop, and the sources that may stand beside a stream.
#include <garrick/patterns/patterns.hpp>

#include <string>

using namespace garrick::patterns;

int twice(int x) { return 2 * x; }
long lengthened(int x) { return x; }
bool is_small(const int& x) { return x < 100; }
bool is_empty(const std::string& text) { return text.empty(); }

void test() {
#ifdef GARRICK_WITHOUT_types
  static_cast<void>(pipeline(counting(1, 7), feedback(lengthened, is_small), discard<long>()));
#elif defined(GARRICK_WITHOUT_again)
  static_cast<void>(feedback(twice, is_empty));
#elif defined(GARRICK_WITHOUT_paired)
  static_cast<void>(zip<int>(twice));
#else
  static_cast<void>(pipeline(counting(1, 7), feedback(twice, is_small), zip<int>(counting(0, 9))));
#endif
}
