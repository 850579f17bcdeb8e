// The ring under the model checker, as it is and with each of its memory orders weakened.
#include <garrick/base/concurrency/ring.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 50'000;

constexpr std::size_t room = 2;

/// A slot's memory as the checker sees it, whichever object lives there.
struct slot_memory {
  relacy_atomics::cell<int> content{0};
  const void* address = nullptr;  ///< of the slot; null: not met yet
};
std::array<slot_memory, room>* slots = nullptr;

/// An item that can only be moved. When it is built or destroyed in the ring, it writes its slot's
/// memory.
class item {
 public:
  explicit item(int number) noexcept : number_(number) {}
  /// Marks an item that is built in the ring, in a slot that the producer has claimed.
  struct in_place {};
  item(int number, in_place) noexcept : number_(number), in_ring_(true) { write(number_); }
  item(item&& other) noexcept : number_(other.read()), in_ring_(!other.in_ring_) { write(number_); }
  item(const item&) = delete;
  ~item() { write(-number_); }

  /// Returns the number. In the ring, the memory of the item's slot must hold the same number.
  int read() const {
    if (in_ring_) RL_ASSERT(slot().get() == number_);
    return number_;
  }

 private:
  void write(int value) const {
    if (in_ring_) slot().set(value);
  }
  [[nodiscard]] relacy_atomics::cell<int>& slot() const {
    rl::ctx().sched();  // another thread may come between the ring's operations and this
    std::size_t i = 0;
    while ((*slots)[i].address != nullptr && (*slots)[i].address != this) ++i;
    RL_ASSERT(i < room);
    (*slots)[i].address = this;
    return (*slots)[i].content;
  }

  int number_;
  bool in_ring_ = false;
};

/// One thread pushes five items, one by one and in pairs, and closes; the other pops singly and in
/// batches until it sees the end. The ring has room for two.
struct ring_suite : rl::test_suite<ring_suite, 2> {
  static constexpr int count = 5;
  std::array<slot_memory, room> memory;
  basic_ring<item, relacy_atomics> ring{room};  // destroys the items left in the slots
  int popped = 0;

  ring_suite() { slots = &memory; }

  void push(std::span<item> items) {
    while (!items.empty()) {
      const std::size_t promised = ring.room();
      const std::size_t taken = ring.push(items);
      RL_ASSERT(taken >= std::min(promised, items.size()));
      items = items.subspan(taken);
      if (taken == 0) relacy_atomics::pause();
    }
  }
  void see(const item& i) { RL_ASSERT(i.read() == ++popped); }

  void thread(unsigned index) {
    if (index == 0) {
      for (int n = 1; n <= count; n += 2) {
        if (n == count) {
          item last(n);
          while (!ring.push(std::move(last))) relacy_atomics::pause();
        } else {
          std::array<item, 2> pair{item(n), item(n + 1)};
          push(pair);
        }
      }
      ring.close();
      return;
    }
    bool single = false;
    while (!ring.ended()) {
      single = !single;
      std::size_t got = 0;
      if (single) {
        if (const std::optional<item> oldest = ring.pop()) got = 1, see(*oldest);
      } else {
        got = ring.pop(room, [&](item&& oldest) { see(oldest); });
      }
      if (got == 0) relacy_atomics::pause();
    }
    RL_ASSERT(popped == count);
  }
};

/// Like `ring_suite`, with a producer that builds its items in their final places: it claims slots,
/// hands on two items at a time or as many as there is room for, and keeps one back now and then.
struct in_place_suite : rl::test_suite<in_place_suite, 2> {
  static constexpr int count = 5;
  std::array<slot_memory, room> memory;
  basic_ring<item, relacy_atomics> ring{room};  // destroys the items left in the slots
  int popped = 0;

  in_place_suite() { slots = &memory; }

  void thread(unsigned index) {
    if (index == 0) {
      std::size_t unpublished = 0;
      for (int n = 1; n <= count;) {
        const auto free = ring.claim(unpublished);
        RL_ASSERT(free.count <= room - unpublished);
        if (free.count != 0) {
          RL_ASSERT(free.first == ring.unpublished_slot(unpublished));
          std::construct_at(free.first, n, item::in_place());
          ++unpublished;
          ++n;
        } else if (unpublished == 0) {
          relacy_atomics::pause();
        }
        if (unpublished == 2 || (unpublished == 1 && (free.count == 0 || n % 2 == 0)))
          ring.publish(std::exchange(unpublished, std::size_t{0}));
      }
      if (unpublished != 0) ring.publish(unpublished);
      ring.close();
      return;
    }
    while (!ring.ended()) {
      const std::size_t waiting = ring.size();
      const std::span<item> oldest = ring.front(room);
      RL_ASSERT(waiting == 0 || !oldest.empty());
      for (const item& i : oldest) RL_ASSERT(i.read() == ++popped);
      if (oldest.empty())
        relacy_atomics::pause();
      else
        ring.discard(oldest.size());
    }
    RL_ASSERT(popped == count);
  }
};

/// The consumer closes while the producer pushes: the producer ends, and the items that were not
/// popped are destroyed with the ring.
struct cancel_suite : rl::test_suite<cancel_suite, 2> {
  std::array<slot_memory, room> memory;
  basic_ring<item, relacy_atomics> ring{room};  // destroys the items left in the slots
  int popped = 0;

  cancel_suite() { slots = &memory; }

  void thread(unsigned index) {
    if (index == 0) {
      int n = 1;
      while (!ring.is_closed()) {
        if (ring.push(item(n)))
          ++n;
        else
          relacy_atomics::pause();
      }
      RL_ASSERT(!ring.push(item(n)));
      return;
    }
    while (popped < 2) {
      const auto take = [&](item&& oldest) { RL_ASSERT(oldest.read() == ++popped); };
      if (ring.pop(1, take) == 0) relacy_atomics::pause();
    }
    ring.close();
  }
};

}  // namespace

TEST_CASE(
    "a pushed element is popped once and in order, also one that was pushed before the close") {
  CHECK(explore<ring_suite>(thorough) == "");
}
TEST_CASE("a producer ends when its consumer closes") {
  CHECK(explore<cancel_suite>(thorough) == "");
}
TEST_CASE("an element built in a claimed slot is read there once and in order") {
  CHECK(explore<in_place_suite>(thorough) == "");
}
TEST_CASE("the ring needs each of its memory orders") {
  const auto need = [](ring_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<ring_suite>(at, as_written, enough_to_fail));
  };
  need(ring_order::publish_tail, release);
  need(ring_order::see_tail, acquire);
  need(ring_order::publish_head, release);
  need(ring_order::see_head, acquire);
  need(ring_order::close, release);
  need(ring_order::see_closed, acquire);
}
TEST_CASE("the ring needs each of its memory orders when items are built and read in place") {
  const auto need = [](ring_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<in_place_suite>(at, as_written, enough_to_fail));
  };
  need(ring_order::publish_tail, release);
  need(ring_order::see_tail, acquire);
  need(ring_order::publish_head, release);
  need(ring_order::see_head, acquire);
  need(ring_order::close, release);
  need(ring_order::see_closed, acquire);
}
