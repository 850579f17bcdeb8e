// The waits of actors for mailboxes: a wait that would close a circle is seen, any other is
// allowed.
#include <garrick/core/overload/drain_lot.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace drain_lot_test {

using garrick::core::drain_lot;
using garrick::core::detail::stacked_actor;

namespace {
constexpr std::uint64_t a = 1, b = 2, c = 3, d = 4;
constexpr stacked_actor in_a{a, nullptr}, in_b{b, nullptr}, in_c{c, nullptr}, in_d{d, nullptr};
}  // namespace

TEST_CASE(
    "drain lot: a receiver with a send of its own that waits is waited for: back-pressure goes up "
    "a pipeline") {
  drain_lot lot;
  const drain_lot::waiting_scope middle(lot, c, &in_b);
  const drain_lot::waiting_scope source(lot, b, &in_a);
  CHECK_FALSE(middle.closes_circle());
  CHECK_FALSE(source.closes_circle());
}

TEST_CASE("drain lot: the wait that would close a circle of any length is seen") {
  drain_lot lot;
  const drain_lot::waiting_scope first(lot, b, &in_a);
  {
    const drain_lot::waiting_scope back(lot, a, &in_b);
    CHECK(back.closes_circle());
  }
  const drain_lot::waiting_scope second(lot, c, &in_b);
  const drain_lot::waiting_scope third(lot, d, &in_c);
  CHECK_FALSE(third.closes_circle());
  const drain_lot::waiting_scope fourth(lot, a, &in_d);
  CHECK(fourth.closes_circle());
}

TEST_CASE("drain lot: all senders that run one another in place stand still with the innermost") {
  drain_lot lot;
  const drain_lot::waiting_scope other(lot, a, &in_c);  // c waits for a, ...
  // ... which runs b in place, which runs d, which sends to c
  const stacked_actor b_in_a{b, &in_a};
  const stacked_actor d_in_b_in_a{d, &b_in_a};
  const drain_lot::waiting_scope nested(lot, c, &d_in_b_in_a);
  CHECK(nested.closes_circle());
}

TEST_CASE(
    "drain lot: a wait that has ended is forgotten, and a thread without an actor closes no "
    "circle") {
  drain_lot lot;
  { const drain_lot::waiting_scope over(lot, a, &in_b); }
  const drain_lot::waiting_scope later(lot, b, &in_a);
  CHECK_FALSE(later.closes_circle());
  const drain_lot::waiting_scope outside(lot, a, nullptr);
  CHECK_FALSE(outside.closes_circle());
}

TEST_CASE("drain lot: a circle is seen however the ids of its actors are apart") {
  for (const std::uint64_t apart : {64u, 256u, 4096u}) {
    drain_lot lot;
    const stacked_actor first{1, nullptr};
    const stacked_actor second{1 + apart, nullptr};
    const stacked_actor third{1 + 2 * apart, nullptr};
    const drain_lot::waiting_scope from_first(lot, second.id, &first);
    const drain_lot::waiting_scope from_second(lot, third.id, &second);
    CHECK_FALSE(from_second.closes_circle());
    const drain_lot::waiting_scope from_third(lot, first.id, &third);
    CHECK(from_third.closes_circle());
  }
}

TEST_CASE("drain lot: a wait without a place harms no other one") {
  drain_lot lot;
  std::vector<stacked_actor> actors;
  for (std::uint64_t i = 0; i != 40; ++i) actors.push_back({1 + i * 4096, nullptr});
  std::vector<std::unique_ptr<drain_lot::waiting_scope>> waits;
  for (const stacked_actor& one : actors)
    waits.push_back(std::make_unique<drain_lot::waiting_scope>(lot, b, &one));
  const drain_lot::waiting_scope back(lot, actors.front().id, &in_b);
  CHECK(back.closes_circle());
  waits.clear();
  std::size_t left = 0;
  lot.for_each_wait([&](std::uint64_t, std::uint64_t) { ++left; });
  CHECK(left == 1);  // `back`
}

namespace {

std::function<void()> before_free;  ///< called before the next store that frees a place

/// Real atomics that can run another thread's steps before their own.
struct stepped_atomics : garrick::base::real_atomics {
  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    void store(T value, std::memory_order order) {
      if (value == T{} && before_free != nullptr) std::exchange(before_free, nullptr)();
      std::atomic<T>::store(value, order);
    }
  };
};

}  // namespace

TEST_CASE("drain lot: a stack that begins on no actor's turn leaves others' places alone") {
  using stepped_lot = garrick::core::basic_drain_lot<stepped_atomics>;
  stepped_lot lot;
  const stacked_actor nobody{0, nullptr};  // a thread outside, or a worker between two turns
  const stacked_actor a_on_nobody{a, &nobody};
  const stacked_actor other{4096, nullptr};  // it takes the first place
  std::optional<stepped_lot::waiting_scope> of_other;
  std::optional<stepped_lot::waiting_scope> of_a(std::in_place, lot, b, &a_on_nobody);
  before_free = [&] { before_free = [&] { of_other.emplace(lot, c, &other); }; };
  of_a.reset();  // frees one place, and no other
  if (!of_other) of_other.emplace(lot, c, &other);
  before_free = nullptr;
  const stepped_lot::waiting_scope back(lot, other.id, &in_c);
  CHECK(back.closes_circle());
}

TEST_CASE("drain lot: each waiting sender and its receiver can be read") {
  drain_lot lot;
  using waits = std::map<std::uint64_t, std::uint64_t>;
  const auto read = [&] {
    waits all;
    lot.for_each_wait([&](std::uint64_t who, std::uint64_t receiver) { all[who] = receiver; });
    return all;
  };
  CHECK(read().empty());
  {
    const stacked_actor b_in_a{b, &in_a};
    const drain_lot::waiting_scope nested(lot, c, &b_in_a);
    const drain_lot::waiting_scope other(lot, a, &in_d);
    CHECK(read() == waits{{a, c}, {b, c}, {d, a}});
  }
  CHECK(read().empty());
}

}  // namespace drain_lot_test
