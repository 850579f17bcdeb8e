// The memory of decoded containers that are empty, and allocate all the same: it is counted before
// it is allocated.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "garrick/net/wire/codec.hpp"

namespace expansion_test {

using namespace garrick;
using namespace garrick::net;

std::size_t in_use = 0;
std::size_t most_in_use = 0;

/// An allocator that counts the bytes of all its containers.
template <class T>
struct counting {
  using value_type = T;
  counting() = default;
  template <class U>
  counting(const counting<U>&) noexcept {}  // NOLINT: as the standard's allocators
  T* allocate(std::size_t n) {
    in_use += n * sizeof(T);
    most_in_use = std::max(most_in_use, in_use);
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* at, std::size_t n) noexcept {
    in_use -= n * sizeof(T);
    std::allocator<T>().deallocate(at, n);
  }
  bool operator==(const counting&) const = default;
};

template <class T>
using counted_deque = std::deque<T, counting<T>>;
template <class T>
using counted_vector = std::vector<T, counting<T>>;

struct queues {
  std::uint8_t number = 0;
  counted_deque<std::uint64_t> first;
  std::array<counted_deque<std::uint8_t>, 2> more;
};

/// Returns the limit from which on these bytes can be decoded, and notes the most bytes in use.
template <class T>
std::size_t least_limit(std::span<const std::byte> bytes) {
  std::size_t least = 0;
  std::size_t enough = 64u << 20;
  while (least < enough) {
    const std::size_t middle = least + (enough - least) / 2;
    if (decode<T>(bytes, {.memory = middle}).has_value())
      enough = middle;
    else
      least = middle + 1;
  }
  most_in_use = in_use;
  REQUIRE(decode<T>(bytes, {.memory = least}).has_value());
  return least;
}

/// Checks that the memory for these bytes is allowed before it is used, and not much more of it.
template <class T>
void counts_all(const std::vector<std::byte>& bytes) {
  CAPTURE(base::type_name<T>);
  const std::size_t before = in_use;
  const std::size_t limit = least_limit<T>(bytes);
  CHECK(in_use == before);
  const std::size_t used = most_in_use - before;
  CHECK(limit >= used);
  CHECK(limit <= used + used / 4);
}

/// Returns the count of `n` elements in three bytes, and so many elements.
std::vector<std::byte> many(std::size_t n, std::initializer_list<std::uint8_t> element) {
  std::vector<std::byte> bytes;
  for (const std::size_t b : {(n & 0x7f) | 0x80, ((n >> 7) & 0x7f) | 0x80, n >> 14})
    bytes.push_back(static_cast<std::byte>(b));
  for (std::size_t i = 0; i != n; ++i)
    for (const std::uint8_t b : element) bytes.push_back(static_cast<std::byte>(b));
  return bytes;
}

TEST_CASE("expansion: empty containers that allocate count with all that they allocate") {
  counts_all<counted_vector<counted_deque<std::uint8_t>>>(many(65000, {0}));
  counts_all<counted_vector<counted_deque<std::array<std::uint8_t, 1000>>>>(many(20000, {0}));
  counts_all<counted_vector<queues>>(many(20000, {0}));
  counts_all<counted_vector<std::array<counted_deque<std::uint8_t>, 2>>>(many(20000, {0, 0}));
  counts_all<counted_vector<std::tuple<std::uint8_t, counted_deque<int>>>>(many(20000, {0, 0}));
}

TEST_CASE("expansion: a container that a byte makes inside an element counts, too") {
  using inside = counted_deque<std::uint8_t>;
  counts_all<counted_vector<std::optional<inside>>>(many(20000, {1, 0}));
  counts_all<counted_vector<std::variant<std::uint8_t, inside>>>(many(20000, {1, 0}));
  // An optional that is empty allocates nothing, and neither does another alternative.
  CHECK(least_limit<std::vector<std::optional<inside>>>(many(20000, {0})) ==
        20000 * sizeof(std::optional<inside>));
}

TEST_CASE("expansion: elements in blocks of their own, and first alternatives, count as well") {
  using inside = counted_deque<std::uint8_t>;
  const auto at_least = [](std::size_t limit) { CHECK(limit >= most_in_use - in_use); };
  at_least(least_limit<std::vector<std::variant<inside, std::uint8_t>>>(many(20000, {1, 7})));
  at_least(least_limit<std::list<inside>>(many(20000, {0})));
  at_least(least_limit<std::multiset<inside>>(many(20000, {0})));
  at_least(least_limit<std::multimap<std::uint8_t, inside>>(many(20000, {0, 0})));
  at_least(least_limit<std::vector<std::unique_ptr<inside>>>(many(20000, {1, 0})));
}

TEST_CASE("expansion: types without a deque cost as much as their elements") {
  struct plain {
    std::string text;
    std::vector<int> numbers;
    std::map<int, int> more;
  };
  static_assert(detail::empty_cost<plain>() == 0);
  static_assert(detail::element_cost<plain>() == sizeof(plain));
  CHECK(least_limit<std::vector<plain>>(many(20000, {0})) == 20000 * sizeof(plain));
}

}  // namespace expansion_test
