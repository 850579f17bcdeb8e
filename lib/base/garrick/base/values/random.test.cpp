// Random numbers: the published sequence, one sequence a seed, and an even spread.
#include "garrick/base/values/random.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

namespace random_test {

using garrick::base::random_source;
using garrick::base::splitmix64;

TEST_CASE("splitmix64 gives its published sequence") {
  std::uint64_t state = 1234567;
  CHECK(splitmix64(state) == 6457827717110365317u);
  CHECK(splitmix64(state) == 3203168211198807973u);
  CHECK(splitmix64(state) == 9817491932198370423u);
}

TEST_CASE("equal seeds give equal sequences, others do not") {
  random_source a(42);
  random_source b(42);
  random_source c(43);
  bool equal = true;
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a();
    equal = equal && x == b();
    same += x == c() ? 1 : 0;
  }
  CHECK(equal);
  CHECK(same == 0);
  random_source d = a.split();
  CHECK(d() != a());
}

TEST_CASE("numbers below a limit are spread evenly") {
  random_source r(7);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[r.below(10)];
  CHECK(std::ranges::all_of(counts, [](int n) { return n > 9'500 && n < 10'500; }));
  CHECK(r.below(0) == 0);
  CHECK(r.below(1) == 0);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = r.unit();
    CHECK((x >= 0 && x < 1));
    sum += x;
  }
  CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("it drives the standard algorithms") {
  std::vector<int> cards{1, 2, 3, 4, 5, 6, 7, 8};
  std::shuffle(cards.begin(), cards.end(), random_source(3));
  CHECK(std::is_permutation(cards.begin(), cards.end(),
                            std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}.begin()));
}

}  // namespace random_test
