#include "garrick/net/layer/detail/early_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace early_messages_test {

using namespace garrick;
using net::detail::early_messages;

constexpr base::instant at_ms(std::int64_t ms) {
  return base::instant::at(base::duration::milliseconds(ms));
}

std::uint64_t steps = 0;

/// A message of which each move is a step.
struct counted {
  std::uint16_t number = 0;
  explicit counted(std::uint16_t n) : number(n) {}
  counted(counted&& other) noexcept : number(other.number) { ++steps; }
  counted& operator=(counted&& other) noexcept {
    number = other.number;
    ++steps;
    return *this;
  }
};
/// A comparison that is a step.
struct counted_before {
  bool operator()(std::uint16_t a, std::uint16_t b) const noexcept {
    ++steps;
    return net::detail::comes_before()(a, b);
  }
};
using counted_messages = early_messages<counted, counted_before>;

/// Returns the steps for adding these numbers, looking for each before, and for taking all out.
std::uint64_t steps_for(const std::vector<std::uint16_t>& numbers) {
  steps = 0;
  counted_messages all;
  for (const std::uint16_t n : numbers) {
    CHECK(!all.contains(n));
    all.add(n, counted(n), at_ms(0));
  }
  std::vector<std::uint16_t> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  for (const std::uint16_t n : sorted) REQUIRE(all.take_first().number == n);
  return steps;
}

/// Orders in which a peer may send the numbers from 1 to n.
std::vector<std::uint16_t> rising(std::uint16_t n) {
  std::vector<std::uint16_t> all;
  for (std::uint16_t i = 1; i <= n; ++i) all.push_back(i);
  return all;
}
std::vector<std::uint16_t> falling(std::uint16_t n) {
  std::vector<std::uint16_t> all = rising(n);
  std::reverse(all.begin(), all.end());
  return all;
}
std::vector<std::uint16_t> from_both_ends(std::uint16_t n) {
  std::vector<std::uint16_t> all;
  for (std::uint16_t i = 1; i <= n; ++i)
    all.push_back(static_cast<std::uint16_t>(i % 2 == 0 ? i / 2 : n - i / 2));
  return all;
}

TEST_CASE("early messages: twice as many cost little more than twice as much, in any order") {
  for (const auto order : {rising, falling, from_both_ends}) {
    const std::uint64_t half = steps_for(order(8000));
    const std::uint64_t whole = steps_for(order(16000));
    CHECK(whole <= half * 5 / 2);
    CHECK(whole <= 16000 * 64);
  }
}

TEST_CASE("early messages: a full window that moves on costs the same for each message") {
  counted_messages all;
  for (std::uint16_t n = 0; n != 16000; ++n) all.add(n, counted(n), at_ms(0));
  steps = 0;
  for (std::uint32_t n = 16000; n != 100000; ++n) {
    const auto number = static_cast<std::uint16_t>(n);
    REQUIRE(all.take_first().number == static_cast<std::uint16_t>(n - 16000));
    all.add(number, counted(number), at_ms(0));
  }
  CHECK(steps <= 84000u * 32);
}

TEST_CASE("early messages: the oldest is the one that came first of those that are there") {
  for (std::uint64_t seed = 0; seed != 200; ++seed) {
    base::random_source random(seed);
    early_messages<std::string> all;
    std::vector<std::pair<std::uint16_t, std::int64_t>> there;
    const auto from = static_cast<std::uint16_t>(random.below(65536));
    std::vector<std::uint16_t> numbers;
    for (std::uint16_t i = 0; i != 50; ++i) numbers.push_back(static_cast<std::uint16_t>(from + i));
    for (std::uint32_t i = 50; i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
    for (std::int64_t ms = 0; ms != 50 || !there.empty();) {
      if (ms != 50 && (there.empty() || random.below(3) != 0)) {
        const std::uint16_t n = numbers[static_cast<std::size_t>(ms)];
        REQUIRE(!all.contains(n));
        all.add(n, std::to_string(n), at_ms(ms));
        there.emplace_back(n, ms++);
        REQUIRE(all.contains(n));
      } else {
        const auto first = std::min_element(there.begin(), there.end(), [](auto& a, auto& b) {
          return net::detail::comes_before()(a.first, b.first);
        });
        REQUIRE(all.first() == first->first);
        REQUIRE(all.take_first() == std::to_string(first->first));
        there.erase(first);
      }
      REQUIRE(all.size() == there.size());
      REQUIRE(all.oldest() == (there.empty() ? base::instant::never() : at_ms(there[0].second)));
      early_messages<std::string> moved(std::move(all));
      all = std::move(moved);
    }
  }
}

}  // namespace early_messages_test
