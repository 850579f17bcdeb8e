// European options and their prices by the formula of Black and Scholes, with dividends: the
// computation, the same for every system. Each round prices all options again. C++17 and the
// standard library only, for the peers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "streams/common/random.hpp"

namespace bench {

struct option {
  float spot;
  float strike;
  float rate;        // a year, without risk
  float dividend;    // a year
  float volatility;  // a year
  float years;       // until it expires
  bool put;
  std::uint8_t rounds;  // so often was it priced
  float price;
};

inline std::vector<option> make_options(std::size_t n) {
  random_stream numbers(20'030'103);
  const auto between = [&](double low, double high) {
    return static_cast<float>(low + (high - low) * numbers.unit());
  };
  std::vector<option> all(n);
  for (option& o : all) {
    o = {};
    o.spot = between(10, 50);
    o.strike = o.spot * between(0.7, 1.3);
    o.rate = between(0.01, 0.1);
    o.dividend = between(0, 0.03);
    o.volatility = between(0.1, 0.6);
    o.years = between(0.25, 2);
    o.put = numbers.below(2) != 0;
  }
  return all;
}

// The probability that a normal number is below x: a polynomial with an error below 1e-7
// (Abramowitz and Stegun, 26.2.17).
inline float below(float x) {
  const float k = 1 / (1 + 0.2316419F * std::fabs(x));
  const float sum =
      k * (0.319381530F +
           k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F))));
  const float above = 0.398942280F * std::exp(-x * x / 2) * sum;
  return x < 0 ? above : 1 - above;
}

// Not inlined, and aligned: the same instructions for every system.
[[gnu::noinline, gnu::aligned(64)]] inline void price(option& o) {
  const float spread = o.volatility * std::sqrt(o.years);
  const float d1 = (std::log(o.spot / o.strike) +
                    (o.rate - o.dividend + o.volatility * o.volatility / 2) * o.years) /
                   spread;
  const float d2 = d1 - spread;
  const float spot = o.spot * std::exp(-o.dividend * o.years);
  const float strike = o.strike * std::exp(-o.rate * o.years);
  o.price = o.put ? strike * below(-d2) - spot * below(-d1) : spot * below(d1) - strike * below(d2);
  ++o.rounds;
}

// The same in double precision, by the error function.
inline double reference_price(const option& o) {
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double v = o.volatility, t = o.years;
  const double d1 =
      (std::log(static_cast<double>(o.spot) / o.strike) + (o.rate - o.dividend + v * v / 2) * t) /
      (v * std::sqrt(t));
  const double d2 = d1 - v * std::sqrt(t);
  const double spot = o.spot * std::exp(-o.dividend * t);
  const double strike = o.strike * std::exp(-o.rate * t);
  return o.put ? strike * below(-d2) - spot * below(-d1) : spot * below(d1) - strike * below(d2);
}

// Checks that all options were priced in each round, equal to the result of one loop, which is not
// far from the reference.
inline void check_prices(result& out, const std::vector<option>& found, std::size_t options,
                         std::size_t rounds) {
  out.items = options * rounds;
  out.expect("options", options, found.size());
  std::vector<option> expected = make_options(options);
  std::size_t missed = 0, different = 0, far = 0;
  for (std::size_t i = 0; i < options && i < found.size(); ++i) {
    price(expected[i]);
    missed += found[i].rounds == rounds ? 0 : 1;
    different += found[i].price == expected[i].price ? 0 : 1;
    const double error = std::fabs(found[i].price - reference_price(expected[i]));
    far += error < 1e-4 ? 0 : 1;  // also if it is not a number
  }
  out.expect("options that were not priced in each round", 0, missed);
  out.expect("prices that differ from the sequential run's", 0, different);
  out.expect("prices that are far from the reference", 0, far);
}

}  // namespace bench
