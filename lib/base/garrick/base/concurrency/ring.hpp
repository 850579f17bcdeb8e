// A bounded queue between one thread that pushes and one that pops, in batches, without a locked
// operation and without an allocation once it is made.
//
// Problem: a steady flow from one place to another should cost a move for each item and, for a
// batch, one store that the other side reads. So each side keeps its own index and the last value
// that it has seen of the other's, on a cache line of its own, and looks at the other side only
// when that value says that there is no room, or nothing left.
//
// The ring does not block and wakes no thread. A caller that sleeps for the other side provides its
// own wake-up.
//
// Thread safety: the functions of the producer belong to one thread at a time, and those of the
// consumer to one thread at a time. A thread that takes over a side has to see its predecessor's
// actions there, as after a mutex or a message. `close`, `is_closed`, `capacity` and `length` are
// for any thread.
//
// Invariants
// Q1 `head` <= `tail` <= `head` + capacity. Both only grow, modulo 2^(bits of size_t). The items
//    with the numbers `head` to `tail` - 1 live in their slots, and no others do.
// Q2 Only the producer writes `tail`, after it has built the items below it; only the consumer
//    writes `head`, after it has destroyed the items below it. So a slot belongs to one side at a
//    time.
// Q3 The index that a side has seen of the other is never ahead of the true one. So at worst the
//    side finds less room, or fewer items, and looks again.
// Q4 Items that were pushed before `close` on the producer's side are popped before `ended` is
//    true.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/platform/assert.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace garrick::base {

/// The memory orders of the ring that the model checker weakens, one at a time.
enum class ring_order : std::uint8_t {
  publish_tail,  ///< the producer's store
  see_tail,      ///< the consumer's look
  publish_head,  ///< the consumer's store
  see_head,      ///< the producer's look
  close,         ///< the store that closes the ring
  see_closed,    ///< the consumer's look at that store
};

/// The indices of a ring without its items; they say which side may use which slot. Numbers of
/// slots are those of items, modulo the capacity. A base class of `basic_ring`, and of the rings in
/// streams, whose functions have the contracts of `basic_ring`'s.
template <class Atomics = real_atomics>
class ring_indices {
 public:
  ring_indices(const ring_indices&) = delete;
  ring_indices& operator=(const ring_indices&) = delete;

  // ---- any thread -------------------------------------------------------------------------------

  /// Returns the greatest number of items that the ring holds at a time.
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  /// Closes the ring. A later `push` of the closing thread is refused, and a `push` of a producer
  /// on another thread as soon as that thread sees the closing. The items in the ring can still be
  /// popped.
  void close() noexcept {
    // order: release: the closing thread's earlier pushes, to the look in `ended`
    closed_.store(true, order<Atomics, ring_order::close>(std::memory_order_release));
  }
  /// Returns true if it is closed. A hint, except on the thread that closes.
  [[nodiscard]] bool is_closed() const noexcept {
    return closed_.load(std::memory_order_relaxed);  // order: a hint
  }

  /// Returns the number of items in the ring, as it was a moment ago.
  [[nodiscard]] std::size_t length() const noexcept {
    // order: acquire: the tail that is read next is at least the one that the consumer saw
    const std::size_t head = head_.value.load(std::memory_order_acquire);
    // order: relaxed; a figure
    return std::min(tail_.value.load(std::memory_order_relaxed) - head, capacity());
  }

  // ---- the producer -----------------------------------------------------------------------------

  /// Publishes the first `n` unpublished items. The consumer sees them all at once.
  void publish(std::size_t n) noexcept {
    producer_.tail += n;
    // order: release: the items, to the consumer's look
    tail_.value.store(producer_.tail,
                      order<Atomics, ring_order::publish_tail>(std::memory_order_release));
  }

  /// Returns the number of items that there is room for now. The consumer can only raise it.
  [[nodiscard]] std::size_t room() noexcept {
    look_at_head();
    return capacity() - (producer_.tail - producer_.seen_head);
  }

  // ---- the consumer -----------------------------------------------------------------------------

  /// Returns the number of items that could be popped now. The producer can only raise it.
  [[nodiscard]] std::size_t size() noexcept {
    look_at_tail();
    return consumer_.seen_tail - consumer_.head;
  }

  /// Returns true if the ring is closed and empty, so that no item follows. The answer is final if
  /// the producer closed the ring. If another thread closed it, a push that was under way may still
  /// add items.
  [[nodiscard]] bool ended() noexcept {
    // order: acquire, pairs with close: the look at the tail comes after it
    if (!closed_.load(order<Atomics, ring_order::see_closed>(std::memory_order_acquire)))
      return false;
    return size() == 0;
  }

 protected:
  /// Slots side by side, from number `first` on.
  struct stretch {
    std::size_t first;  ///< the number of the first slot
    std::size_t count;  ///< of slots from there on
  };

  /// Makes indices over `memory`, which has room for `slots_for(capacity)` items.
  ring_indices(std::size_t slots, void* memory) noexcept : mask_(slots - 1), memory_(memory) {}
  ~ring_indices() = default;

  /// Returns the number of slots of a ring for this many items. Requires 1 to 2^30.
  static std::size_t slots_for(std::size_t capacity) noexcept {
    GARRICK_ASSERT(capacity >= 1 && capacity <= (std::size_t{1} << 30),
                   "a ring has room for 1 to 2^30 items");
    return std::bit_ceil(capacity);
  }
  /// Returns the items that are left when both sides are done.
  [[nodiscard]] stretch what_is_left() const noexcept {
    // order: relaxed: the caller has seen the actions of both sides
    const std::size_t tail = tail_.value.load(std::memory_order_relaxed);
    const std::size_t head = head_.value.load(std::memory_order_relaxed);  // order: as above
    return {head, tail - head};
  }
  /// For the producer: returns free slots behind the newest item and `unpublished` further ones.
  [[nodiscard]] stretch claim_slots(std::size_t unpublished) noexcept {
    producers& mine = producer_;
    const auto used = [&] { return mine.tail - mine.seen_head + unpublished; };
    if (used() == capacity()) look_at_head();
    const std::size_t first = (mine.tail + unpublished) & mask_;
    return {first, std::min(capacity() - used(), capacity() - first)};
  }
  /// For the consumer: returns the oldest items, at most `most`.
  [[nodiscard]] stretch front_slots(std::size_t most) noexcept {
    consumers& mine = consumer_;
    if (mine.seen_tail - mine.head < most) look_at_tail();
    const std::size_t first = mine.head & mask_;
    return {first, std::min({most, mine.seen_tail - mine.head, capacity() - first})};
  }
  /// For the consumer: gives the slots below the head, which hold no items, back to the producer.
  void give_room_back() noexcept {
    // order: release: the items were destroyed before the producer uses their slots
    head_.value.store(consumer_.head,
                      order<Atomics, ring_order::publish_head>(std::memory_order_release));
  }
  /// For the producer: reads the consumer's position.
  void look_at_head() noexcept {
    // order: acquire, pairs with the consumer's store: it is done with those slots
    producer_.seen_head =
        head_.value.load(order<Atomics, ring_order::see_head>(std::memory_order_acquire));
  }
  /// For the consumer: reads the producer's position.
  void look_at_tail() noexcept {
    // order: acquire, pairs with the producer's store: the items
    consumer_.seen_tail =
        tail_.value.load(order<Atomics, ring_order::see_tail>(std::memory_order_acquire));
  }

  /// The indices of the two sides lie on lines of their own. A line has 64 bytes here and not the
  /// library's constant: the layout must not depend on the compiler's options.
  static constexpr std::size_t line = 64;
  /// An index that both sides read.
  using atomic_index = typename Atomics::template atomic<std::size_t>;

  /// An index on a line of its own.
  struct alignas(line) shared_index {
    atomic_index value{0};  ///< of items
  };
  /// The producer's own.
  struct alignas(line) producers {
    std::size_t tail = 0;       ///< items pushed so far
    std::size_t seen_head = 0;  ///< items popped, when it looked last
  };
  /// The consumer's own.
  struct alignas(line) consumers {
    std::size_t head = 0;       ///< items popped so far
    std::size_t seen_tail = 0;  ///< items pushed, when it looked last
  };

  shared_index tail_;   ///< written by the producer: items pushed so far
  shared_index head_;   ///< written by the consumer: items popped so far
  producers producer_;  ///< the producer's alone
  consumers consumer_;  ///< the consumer's alone

  // Read by both sides, and written once at most. Last, so that members of this kind in a derived
  // class are on the same line.
  const std::size_t mask_;                                 ///< the capacity less one
  void* const memory_;                                     ///< the slots
  typename Atomics::template atomic<bool> closed_{false};  ///< by the thread that has closed it
};

/// A bounded queue for one producer and one consumer, first in, first out. `T` may be move-only;
/// its move constructor must not throw. Neither side ever blocks.
template <class T, class Atomics = real_atomics>
class basic_ring : private ring_indices<Atomics> {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "the items of a ring are moved and destroyed without exceptions");
  using indices = ring_indices<Atomics>;
  using typename indices::consumers, typename indices::producers;
  using indices::consumer_, indices::head_, indices::look_at_head, indices::look_at_tail,
      indices::mask_, indices::producer_, indices::tail_;

 public:
  /// Makes room for `most` items, rounded up to a power of two. Requires 1 to 2^30. Allocates once;
  /// throws std::bad_alloc.
  explicit basic_ring(std::size_t most)
      : indices(indices::slots_for(most), std::allocator<T>().allocate(indices::slots_for(most))) {}
  /// Destroys the remaining items. Requires that both sides are done.
  ~basic_ring() {
    auto [number, left] = indices::what_is_left();
    for (; left != 0; ++number, --left) std::destroy_at(slot(number));
    std::allocator<T>().deallocate(slots(), mask_ + 1);
  }
  basic_ring(const basic_ring&) = delete;
  basic_ring& operator=(const basic_ring&) = delete;

  // for any thread
  using indices::capacity, indices::close, indices::is_closed, indices::length;
  // for the producer
  using indices::publish, indices::room;
  // for the consumer
  using indices::ended, indices::size;

  // ---- the producer -----------------------------------------------------------------------------

  /// Moves `item` into the ring. Returns false, and leaves `item`, if the ring is full or closed.
  [[nodiscard]] bool push(T&& item) noexcept { return push(std::span<T>(&item, 1)) == 1; }

  /// Moves as many of `items` into the ring as there is room for, the first ones first, and returns
  /// their number; 0 if the ring is closed. The consumer sees them all at once.
  [[nodiscard]] std::size_t push(std::span<T> items) noexcept {
    if (is_closed()) return 0;
    producers& mine = producer_;
    if (mine.tail - mine.seen_head + items.size() > capacity()) look_at_head();
    const std::size_t n = std::min(items.size(), capacity() - (mine.tail - mine.seen_head));
    if (n == 0) return 0;
    for (std::size_t i = 0; i < n; ++i) std::construct_at(slot(mine.tail + i), std::move(items[i]));
    publish(n);
    return n;
  }

  /// Contiguous free slots.
  struct free_slots {
    T* first;           ///< raw memory; null if there are none
    std::size_t count;  ///< of slots from there on
  };

  /// Returns the free slots behind the newest item and `unpublished` further ones, up to the end of
  /// the memory or the oldest item. The producer builds items there, from the first on, and hands
  /// them over by `publish`; until then the consumer does not see them. For a producer that builds
  /// a batch in place. It makes no difference whether the ring is closed.
  [[nodiscard]] free_slots claim(std::size_t unpublished) noexcept {
    const auto [first, count] = indices::claim_slots(unpublished);
    return {count == 0 ? nullptr : slots() + first, count};
  }

  /// Returns the place of the unpublished item number `i`: 0 is the one behind the newest.
  [[nodiscard]] T* unpublished_slot(std::size_t i) const noexcept {
    return slot(producer_.tail + i);
  }

  // ---- the consumer -----------------------------------------------------------------------------

  /// Takes out the oldest item. Returns nullopt if there is none.
  [[nodiscard]] std::optional<T> pop() noexcept {
    std::optional<T> item;
    pop(1, [&](T&& oldest) noexcept { item.emplace(std::move(oldest)); });
    return item;
  }

  /// Hands at most `most` items to `take(T&&)`, the oldest first, and returns their number. The
  /// producer gets the room of all of them back in one step, at the end. `take` must not call the
  /// consumer's functions of this ring. If it throws, the item that it was given is gone and the
  /// later ones stay.
  template <class Take>
  std::size_t pop(std::size_t most, Take&& take) noexcept(std::is_nothrow_invocable_v<Take&, T&&>) {
    consumers& mine = consumer_;
    if (mine.seen_tail - mine.head < most) look_at_tail();
    const std::size_t n = std::min(most, mine.seen_tail - mine.head);
    if (n == 0) return 0;
    const give_room_back at_the_end{*this};
    for (std::size_t i = 0; i < n; ++i) {
      const destroy_taken after{*this};
      take(std::move(*slot(mine.head)));
    }
    return n;
  }

  /// Returns the oldest contiguous items, at most `most`: for a consumer that works on them in
  /// place. They stay in the ring until `discard`.
  [[nodiscard]] std::span<T> front(std::size_t most) noexcept {
    const auto [first, count] = indices::front_slots(most);
    return {slots() + first, count};
  }

  /// Destroys the oldest `n` items, which `front` has returned. The producer gets their room back.
  void discard(std::size_t n) noexcept {
    const give_room_back at_the_end{*this};
    if constexpr (std::is_trivially_destructible_v<T>) {
      consumer_.head += n;
    } else {
      for (; n != 0; --n) const destroy_taken after{*this};
    }
  }

 private:
  /// Destroys the oldest item, which has been handed out, at the end of its scope.
  struct destroy_taken {
    basic_ring& of;
    ~destroy_taken() {
      std::destroy_at(of.slot(of.consumer_.head));
      ++of.consumer_.head;
    }
  };
  /// Gives the room of the popped items back at the end of its scope.
  struct give_room_back {
    basic_ring& of;
    ~give_room_back() { of.indices::give_room_back(); }
  };

  [[nodiscard]] T* slots() const noexcept { return static_cast<T*>(this->memory_); }
  [[nodiscard]] T* slot(std::size_t number) const noexcept { return slots() + (number & mask_); }
};

/// The product's ring.
template <class T>
using ring = basic_ring<T, real_atomics>;

}  // namespace garrick::base
