// The ring: order, bound, batches across the wrap, closing, and items that can only be moved.
#include <garrick/base/concurrency/ring.hpp>

#include <doctest/doctest.h>
#include <support/in_child.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ring_test {

using namespace garrick;

namespace {

std::vector<int> pop_all(base::ring<int>& from, std::size_t most) {
  std::vector<int> all;
  from.pop(most, [&](int&& n) { all.push_back(n); });
  return all;
}

/// Counts how many of its kind live.
class counted {
 public:
  explicit counted(int& alive) noexcept : alive_(&alive) { ++*alive_; }
  counted(counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  ~counted() { --*alive_; }

 private:
  int* alive_;
};

}  // namespace

TEST_CASE("a ring gives its items in the order in which it got them") {
  base::ring<int> ring(4);
  for (int n = 0; n < 4; ++n) CHECK(ring.push(int{n}));
  for (int n = 0; n < 4; ++n) CHECK(ring.pop() == n);
  CHECK_FALSE(ring.pop().has_value());
}

TEST_CASE(
    "a ring is full at its capacity, a power of two, and does not change an element that it "
    "refuses") {
  base::ring<std::unique_ptr<int>> ring(3);
  CHECK(ring.capacity() == 4);
  for (int n = 0; n < 4; ++n) CHECK(ring.push(std::make_unique<int>(n)));
  CHECK(ring.room() == 0);
  auto refused = std::make_unique<int>(4);
  CHECK_FALSE(ring.push(std::move(refused)));
  REQUIRE(refused != nullptr);
  CHECK(**ring.pop() == 0);
  CHECK(ring.room() == 1);
  CHECK(ring.push(std::move(refused)));
  CHECK(refused == nullptr);
}

TEST_CASE("a batch takes as many as there is room for, across the end of the array") {
  base::ring<int> ring(8);
  std::array<int, 6> first{};
  std::iota(first.begin(), first.end(), 0);
  CHECK(ring.push(first) == 6);
  CHECK(pop_all(ring, 5) == std::vector{0, 1, 2, 3, 4});
  CHECK(ring.room() == 7);
  std::array<int, 9> second{};
  std::iota(second.begin(), second.end(), 10);
  CHECK(ring.push(second) == 7);
  CHECK(ring.size() == 8);
  CHECK(ring.room() == 0);
  CHECK(ring.push(std::span<int>()) == 0);
  CHECK(pop_all(ring, 100) == std::vector{5, 10, 11, 12, 13, 14, 15, 16});
  CHECK(pop_all(ring, 100).empty());
}

TEST_CASE("a closed ring takes nothing, and ends when it is empty") {
  base::ring<int> ring(2);
  CHECK(ring.push(1));
  CHECK_FALSE(ring.ended());
  ring.close();
  CHECK(ring.is_closed());
  CHECK_FALSE(ring.push(2));
  CHECK_FALSE(ring.ended());
  CHECK(ring.pop() == 1);
  CHECK(ring.ended());
}

TEST_CASE("a ring destroys its remaining elements, and nothing twice") {
  int alive = 0;
  {
    base::ring<counted> ring(4);
    for (int round = 0; round < 3; ++round) {
      for (int n = 0; n < 3; ++n) CHECK(ring.push(counted(alive)));
      CHECK(ring.pop().has_value());
      CHECK(ring.pop(2, [](counted&&) {}) == 2);
      CHECK(alive == 0);
    }
    for (int n = 0; n < 3; ++n) CHECK(ring.push(counted(alive)));
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}

TEST_CASE("items can be built where they are read, and are seen when they are published") {
  base::ring<std::string> ring(4);
  const auto build = [&](std::size_t unpublished, const char* text) {
    const auto free = ring.claim(unpublished);
    REQUIRE(free.count != 0);
    CHECK(free.first == ring.unpublished_slot(unpublished));
    std::construct_at(free.first, text);
  };
  build(0, "a");
  build(1, "b");
  CHECK(ring.size() == 0);
  ring.publish(1);
  CHECK(ring.front(9).size() == 1);
  CHECK(ring.front(9)[0] == "a");
  CHECK(*ring.unpublished_slot(0) == "b");
  ring.publish(1);
  CHECK(ring.size() == 2);
  CHECK(ring.front(1).size() == 1);
  CHECK(ring.front(9)[1] == "b");
  ring.discard(1);
  CHECK(ring.front(9)[0] == "b");
}

TEST_CASE("claimed slots and the oldest items lie side by side, up to where the memory ends") {
  base::ring<int> ring(4);
  CHECK(ring.claim(0).count == 4);
  CHECK(ring.claim(3).count == 1);
  CHECK(ring.claim(4).count == 0);
  CHECK(ring.claim(4).first == nullptr);
  for (int n = 0; n < 3; ++n) CHECK(ring.push(int{n}));
  CHECK(ring.claim(0).count == 1);
  CHECK(ring.front(2).size() == 2);
  ring.discard(2);
  CHECK(ring.claim(0).count == 1);
  CHECK(ring.claim(1).count == 2);  // from the beginning of the memory on
  CHECK(ring.claim(1).first + 3 == ring.claim(0).first);
  for (int n = 3; n < 6; ++n) CHECK(ring.push(int{n}));
  CHECK(ring.front(9).size() == 2);  // 2 and 3; 4 and 5 lie at the beginning
  ring.discard(2);
  CHECK(ring.front(9).size() == 2);
  CHECK(ring.front(9)[0] == 4);
}

TEST_CASE("an element claimed and published lives until it is discarded, or as long as the ring") {
  int alive = 0;
  {
    base::ring<counted> ring(2);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t n = 0; n < 2; ++n) std::construct_at(ring.claim(n).first, alive);
      CHECK(alive == 2);
      ring.publish(2);
      ring.discard(1);
      CHECK(alive == 1);
      ring.discard(1);
      CHECK(alive == 0);
    }
    std::construct_at(ring.claim(0).first, alive);
    ring.publish(1);
  }
  CHECK(alive == 0);
}

TEST_CASE("if the receiver of a batch throws, the later items stay and the room is given back") {
  base::ring<int> ring(4);
  std::array<int, 4> items{0, 1, 2, 3};
  CHECK(ring.push(items) == 4);
  CHECK_THROWS_AS(ring.pop(4,
                           [](int&& n) {
                             if (n == 1) throw std::runtime_error("full");
                           }),
                  std::runtime_error);
  CHECK(ring.room() == 2);
  CHECK(pop_all(ring, 4) == std::vector{2, 3});
}

TEST_CASE("a ring without room is refused, and so is one that is too large") {
  for (const std::size_t capacity : {std::size_t{0}, (std::size_t{1} << 30) + 1}) {
    const auto [text, status] = tests::in_child([&] { base::ring<char> ring(capacity); });
    CHECK(text.find("a ring has room for 1 to 2^30 items") != std::string::npos);
    CHECK(tests::has_aborted(status));
  }
}

namespace {

void check_between_two_threads(std::size_t capacity, std::uint64_t count) {
  base::ring<std::unique_ptr<std::uint64_t>> ring(capacity);
  std::uint64_t wrong = 0;
  std::uint64_t popped = 0;
  std::thread consumer([&] {
    for (std::size_t most = 1; !ring.ended(); most = most % 37 + 1) {
      const std::size_t got =
          ring.pop(most, [&](std::unique_ptr<std::uint64_t>&& n) { wrong += *n != popped++; });
      if (got == 0) std::this_thread::yield();
    }
  });
  std::vector<std::unique_ptr<std::uint64_t>> batch;
  std::size_t size = 0;
  for (std::uint64_t pushed = 0; pushed < count;) {
    size = size % 41 + 1;
    for (std::size_t i = batch.size(); i < size && pushed + i < count; ++i)
      batch.push_back(std::make_unique<std::uint64_t>(pushed + i));
    const std::size_t taken = ring.push(batch);
    batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(taken));
    pushed += taken;
    if (taken == 0) std::this_thread::yield();
  }
  ring.close();
  consumer.join();
  CHECK(popped == count);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("between two threads nothing is lost, doubled or reordered, in batches of any size") {
  // On a busy machine it costs milliseconds each time that the ring is full or empty.
  check_between_two_threads(64, 100'000);
  check_between_two_threads(2048, 1'000'000);
}

}  // namespace ring_test
