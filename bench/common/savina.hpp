// The common part of the programs of the group `savina`: the benchmark suite's generator of
// pseudo-random numbers, and the work of one fork-join message. With them, every system makes the
// same decisions, so that results can be checked exactly. Standard library only and C++17, for the
// peers.
//
// Thread safety: a generator has one owner.
#pragma once

#include <cmath>
#include <cstdint>

namespace bench::savina {

/// A linear congruential generator of 16 bits: it repeats after 65536 numbers, and even and odd
/// numbers alternate. It is poor, but the suite's results depend on it.
class random_numbers {
 public:
  constexpr explicit random_numbers(std::uint64_t seed = 74755) : value_(seed) {}

  /// Returns a number from 0 to 65535.
  constexpr std::uint32_t next() {
    value_ = (1309 * value_ + 13849) & 65535;
    return static_cast<std::uint32_t>(value_);
  }
  /// Returns a number from 0 to bound - 1. Requires bound > 0.
  constexpr std::uint32_t below(std::uint64_t bound) {
    return static_cast<std::uint32_t>(next() % bound);
  }
  /// Returns a number above 0, at most 1, and mostly small.
  constexpr double real() { return 1.0 / (static_cast<double>(next()) + 1.0); }

 private:
  std::uint64_t value_;
};

namespace detail {
constexpr std::uint32_t after(std::uint64_t seed, int steps) {
  random_numbers numbers(seed);
  for (int i = 1; i < steps; ++i) static_cast<void>(numbers.next());
  return numbers.next();
}
}  // namespace detail
static_assert(detail::after(74755, 1) == 22896 && detail::after(74755, 2) == 34761 &&
              detail::after(74755, 3) == 34014);

/// The computation of the two fork-join programs for a message. The argument is read at run time,
/// so that no compiler folds the sine.
inline double fork_join_work() {
  const volatile double angle = 37.2;
  const double sine = std::sin(angle);
  return sine * sine;
}

}  // namespace bench::savina
