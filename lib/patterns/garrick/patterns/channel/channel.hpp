// A channel between two nodes: a ring, and a flag at each end for the node that sleeps there.
//
// Problem: a batch should cost one store that the other side reads, but a node without work sleeps,
// and must be woken when there is work. So each side has a flag, which is set before the last look,
// and the other side reads it after each batch.
//
// Private: installed because templates need it.
//
// Thread safety: as the ring's: one producer and one consumer at a time. A node that moves to
// another thread is handed over with its run right.
//
// Invariants
// H1 A consumer that sleeps has set its flag and then seen the ring empty and open; a producer that
//    sleeps has set its flag and then seen the ring at least half full.
// H2 A node that publishes, closes or makes room looks at the other side's flag afterwards, with a
//    full fence between; the sleeper has a fence between its flag and its last look. So at least
//    one of the two sees the other's write: no node sleeps through the event that it waits for.
// H3 A flag is taken back by one exchange. So one batch wakes its sleeper once.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/ring.hpp>
#include <garrick/patterns/channel/tuple_type.hpp>
#include <garrick/patterns/node/sleeper_flag.hpp>

#include <cstddef>
#include <utility>

namespace garrick::patterns::detail {

/// Tuples side by side, of any type.
struct some_tuples {
  void* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] bool empty() const noexcept { return count == 0; }
};

/// A ring of tuples. Only its ends know their type. Its functions are those of base::basic_ring.
class tuple_ring : public base::ring_indices<base::real_atomics> {
 public:
  tuple_ring(const tuple_type& of, std::size_t capacity);
  ~tuple_ring();

  /// Returns the type of its tuples.
  [[nodiscard]] const tuple_type& type() const noexcept { return type_; }
  [[nodiscard]] some_tuples claim(std::size_t unpublished) noexcept {
    const auto [first, count] = claim_slots(unpublished);
    return {count == 0 ? nullptr : slot(first), count};
  }
  [[nodiscard]] void* unpublished_slot(std::size_t i) const noexcept {
    return slot((producer_.tail + i) & mask_);
  }
  /// Returns the number of contiguous slots from number `i` on.
  [[nodiscard]] std::size_t side_by_side(std::size_t i) const noexcept {
    return capacity() - ((producer_.tail + i) & mask_);
  }
  [[nodiscard]] some_tuples front(std::size_t most) noexcept {
    const auto [first, count] = front_slots(most);
    return {slot(first), count};
  }
  void discard(std::size_t n) noexcept {
    type_.destroy_some(slot(consumer_.head & mask_), n);
    consumer_.head += n;
    give_room_back();
  }

 private:
  [[nodiscard]] void* slot(std::size_t number) const noexcept {
    return static_cast<std::byte*>(memory_) + number * type_.size;
  }

  const tuple_type& type_;
};

/// A bounded channel over such a ring.
template <class Ring, class Atomics = base::real_atomics>
struct basic_channel {
  /// Takes the arguments of the ring. The last one is the number of slots, rounded up to a power of
  /// two. Throws std::bad_alloc.
  template <class... Args>
  explicit basic_channel(const Args&... args) : ring(args...) {}

  /// Returns how many free slots wake a producer that sleeps: half of all, so that a wake-up pays.
  [[nodiscard]] std::size_t enough_room() const noexcept { return (ring.capacity() + 1) / 2; }

  Ring ring;
  /// True if the consumer has enough: it drops all further tuples, up to the end. Written once, and
  /// beside the flag that the producer reads after each batch.
  alignas(64) typename Atomics::template atomic<bool> unwanted{false};
  basic_sleeper_flag<Atomics> consumer_sleeps;
  alignas(64) basic_sleeper_flag<Atomics> producer_sleeps;
};

/// The product's channel.
using channel = basic_channel<tuple_ring>;

}  // namespace garrick::patterns::detail
