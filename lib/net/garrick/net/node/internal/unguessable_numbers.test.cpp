#include <doctest/doctest.h>
#include <garrick/net/node/internal/unguessable_numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>

namespace unguessable_numbers_test {

using garrick::net::internal::unguessable_numbers;

namespace {

int calls = 0;

void count(std::span<std::byte> to) {
  ++calls;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::byte>(calls);
}
void fail_once(std::span<std::byte> to) {
  if (++calls == 2) throw std::runtime_error("no bytes");
  for (std::byte& b : to) b = static_cast<std::byte>(calls);
}

}  // namespace

TEST_CASE("the system is asked for many numbers at once, and each of its bytes is used once") {
  calls = 0;
  unguessable_numbers draw(&count);
  constexpr std::uint64_t ones = 0x0101010101010101;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t n = draw();
    CHECK(n == ones * static_cast<std::uint64_t>(calls));
  }
  CHECK(calls == 32);
}

TEST_CASE("numbers of the system differ, also those of two owners") {
  std::set<std::uint64_t> all;
  for (int owner = 0; owner < 10; ++owner) {
    unguessable_numbers draw;
    for (int i = 0; i < 1000; ++i) all.insert(draw());
  }
  CHECK(all.size() == 10'000);
}

TEST_CASE("numbers that the system has refused once are not repeated") {
  calls = 0;
  unguessable_numbers draw(&fail_once);
  int thrown = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < 34; ++i) try {
      last = draw();
    } catch (const std::runtime_error&) { ++thrown; }
  CHECK(thrown == 1);
  CHECK(last == 0x0303030303030303);
}

}  // namespace unguessable_numbers_test
