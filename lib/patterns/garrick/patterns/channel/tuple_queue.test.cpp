#include <garrick/patterns/channel/tuple_queue.hpp>

#include <doctest/doctest.h>
#include <garrick/base/values/random.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace tuple_queue_test {

using namespace garrick::patterns::detail;

namespace {

int alive = 0;
int misplaced = 0;  ///< looks at an item that is not there, or not aligned

/// An item that knows where it lies.
template <std::size_t Bytes, std::size_t Alignment>
struct alignas(Alignment) item {
  explicit item(int n) noexcept : number(n) { ++alive; }
  item(const item&) = delete;
  item& operator=(const item&) = delete;
  item(item&& o) noexcept : item(std::exchange(o.number, -1)) { o.look(); }
  ~item() {
    look();
    me = nullptr;
    --alive;
  }
  void look() const noexcept {
    if (me != this || reinterpret_cast<std::uintptr_t>(this) % Alignment != 0) ++misplaced;
  }
  const item* me = this;
  int number;
  std::byte rest[Bytes]{};
};

std::size_t even_ones(const void* first, std::size_t n) noexcept {
  std::size_t some = 0;
  for (const auto* i = static_cast<const item<1, 8>*>(first); n != 0; ++i, --n)
    some += i->number % 2 == 0 ? 1 : 0;
  return some;
}

/// Pushes and pops at random, beside a std::deque. Some items stay to the end.
template <class Item>
void behaves_as_a_deque(tuple_type type) {
  alive = misplaced = 0;
  {
    tuple_queue queue(type);
    std::deque<int> expected;
    std::uint64_t state = 1;
    for (int i = 0; i < 20'000; ++i) {
      const bool grows = i / 1000 % 2 == 1;
      switch (garrick::base::splitmix64(state) % 6) {
        case 0:
          if (!expected.empty()) queue.pop_front(), expected.pop_front();
          break;
        case 1:
          if (!expected.empty()) queue.pop_back(), expected.pop_back();
          break;
        case 2:
        case 3:
          if (!grows) {
            if (!expected.empty()) queue.pop_front(), expected.pop_front();
            break;
          }
          [[fallthrough]];
        default:
          Item one(i);
          queue.push_back(&one);
          expected.push_back(i);
      }
      REQUIRE(queue.size() == expected.size());
      REQUIRE(queue.empty() == expected.empty());
      REQUIRE(alive == static_cast<int>(expected.size()));
      if (expected.empty()) continue;
      const Item& front = *static_cast<const Item*>(queue.front());
      front.look();
      REQUIRE(front.number == expected.front());
      if (i % 100 != 0) continue;
      std::size_t tuples = expected.size();
      if (type.tuples != nullptr) {
        tuples = 0;
        for (const int n : expected) tuples += n % 2 == 0 ? 1 : 0;
      }
      REQUIRE(queue.tuples() == tuples);
    }
    CHECK(!queue.empty());
  }
  CHECK(alive == 0);
  CHECK(misplaced == 0);
}

}  // namespace

TEST_CASE("a queue of tuples of any size and alignment behaves as a deque") {
  behaves_as_a_deque<item<1, 8>>(tuple_type_of<item<1, 8>>);
  behaves_as_a_deque<item<300, 8>>(tuple_type_of<item<300, 8>>);
  behaves_as_a_deque<item<2000, 8>>(tuple_type_of<item<2000, 8>>);
  behaves_as_a_deque<item<1, 64>>(tuple_type_of<item<1, 64>>);
  behaves_as_a_deque<item<1, 2048>>(tuple_type_of<item<1, 2048>>);
}

TEST_CASE("a queue counts those of its items that are tuples") {
  tuple_type type = tuple_type_of<item<1, 8>>;
  type.tuples = &even_ones;
  behaves_as_a_deque<item<1, 8>>(type);
}

}  // namespace tuple_queue_test
