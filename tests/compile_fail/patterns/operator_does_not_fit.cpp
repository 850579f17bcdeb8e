// each: filter scan flat_map fold from narrow narrow_result narrow_scan
// expect: garrick:
// expect: takes a function|takes a container
// The functions of the shipped stages.
#include <garrick/patterns/patterns.hpp>

#include <optional>
#include <vector>

using namespace garrick::patterns;

int twice(int x) { return 2 * x; }
int sum(int x, int y) { return x + y; }
double half(int x, int y) { return (x + y) / 2.0; }
std::vector<int> copies(int x) { return {x, x}; }

void test() {
#ifdef GARRICK_WITHOUT_filter
  static_cast<void>(pipeline(filter(twice), discard<int>()));
#elif defined(GARRICK_WITHOUT_scan)
  static_cast<void>(scan(0, twice).named("scan"));
#elif defined(GARRICK_WITHOUT_flat_map)
  static_cast<void>(flat_map(twice));
#elif defined(GARRICK_WITHOUT_fold)
  static_cast<void>(fold(std::vector<int>(), sum));
#elif defined(GARRICK_WITHOUT_narrow)
  static_cast<void>(fold(0L, sum));
#elif defined(GARRICK_WITHOUT_narrow_result)
  static_cast<void>(fold(0, half));
#elif defined(GARRICK_WITHOUT_narrow_scan)
  static_cast<void>(scan(0.5, sum));
#elif defined(GARRICK_WITHOUT_from)
  static_cast<void>(from(7));
#else
  static_cast<void>(fold(false, [](bool any, int x) { return any | (x > 0); }));
  static_cast<void>(fold(0.0, [](double s, long x) { return s + static_cast<double>(x); }));
  static_cast<void>(pipeline(from(copies(7)), filter([](int x) { return x == 1; }), scan(0, sum),
                             flat_map(copies), fold(0, sum)));
  static_cast<void>(pipeline(generate([] { return std::optional<int>(); }), for_each([](int) {})));
#endif
}
