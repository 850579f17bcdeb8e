// each: captures pointer type
// expect: garrick: bind
// The values that may be bound to a stage's function.
#include <garrick/patterns/patterns.hpp>

#include <functional>
#include <string>

using namespace garrick;
using namespace garrick::patterns;

bool at_least(int least, const int& x) { return x >= least; }
void count(int& n, std::string) { ++n; }

void test(int& n, int* p) {
#ifdef GARRICK_WITHOUT_captures
  static_cast<void>(patterns::bind([&n](int x, int y) { return x + y + n; }, 1));
#elif defined(GARRICK_WITHOUT_pointer)
  static_cast<void>(filter(patterns::bind([](int* q, int x) { return x == *q; }, p)));
#elif defined(GARRICK_WITHOUT_type)
  static_cast<void>(filter(patterns::bind(at_least, std::string("one"))));
#else
  static_cast<void>(pipeline(filter(patterns::bind(at_least, 7)), discard<int>()));
  static_cast<void>(seq(patterns::bind(count, 0)));
  static_cast<void>(seq(patterns::bind(count, lent(n))));
  static_cast<void>(filter(patterns::bind([](int* q, int x) { return x == *q; }, lent(p))));
  static_cast<void>(seq(
      patterns::bind([](const std::string& a, std::string b) { return a + b; }, std::string("a"))));
#endif
}
