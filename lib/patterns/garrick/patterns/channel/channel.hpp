// A channel between two nodes: a ring, and who waits at its ends.
//
// Problem: a batch should cost one store that the other side reads, but a node that has found
// nothing to do sleeps, and must hear when there is something. So each side has a flag, which is
// set before the last look, and the other side reads it after each batch.
//
// Private: installed because templates need it.
//
// Thread safety: as the ring's: one producer and one consumer at a time. A node that moves to
// another thread is handed over with its run right.
//
// Invariants
// H1 A consumer that sleeps has set its flag and then seen the ring empty and open; a producer that
//    sleeps has set its flag and then seen the ring at least half full.
// H2 Whoever publishes, closes or makes room looks at the other side's flag afterwards, with a full
//    fence between; the sleeper has one between its flag and its last look. So at least one of the
//    two sees the other's write: nobody sleeps beside what it waits for.
// H3 A flag is taken back by one exchange. So one batch wakes its sleeper once.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/ring.hpp>
#include <garrick/patterns/node/sleeper_flag.hpp>

#include <cstddef>
#include <span>

namespace garrick::patterns::detail {

/// Are all T tuples? Else `is_tuple(t)` says which are; the others are the framework's.
template <class T>
inline constexpr bool always_tuples = true;

/// How many of them are tuples.
template <class T>
[[nodiscard]] std::size_t tuples_among(std::span<const T> some) noexcept {
  if constexpr (always_tuples<T>) {
    return some.size();
  } else {
    std::size_t n = 0;
    for (const T& t : some) n += is_tuple(t) ? 1 : 0;
    return n;
  }
}

/// A bounded channel for tuples of one type.
template <class T, class Atomics = base::real_atomics>
struct basic_channel {
  /// Room for `capacity` tuples, rounded up to a power of two. Throws std::bad_alloc.
  explicit basic_channel(std::size_t capacity) : ring(capacity) {}

  /// So many free slots wake a producer that sleeps: half of them, so that it is worth its while.
  [[nodiscard]] std::size_t enough_room() const noexcept { return (ring.capacity() + 1) / 2; }

  base::basic_ring<T, Atomics> ring;
  alignas(64) basic_sleeper_flag<Atomics> consumer_sleeps;
  alignas(64) basic_sleeper_flag<Atomics> producer_sleeps;
  /// The consumer has enough: it drops what still comes, up to the end. Written once.
  typename Atomics::template atomic<bool> unwanted{false};
};

/// The product's channel.
template <class T>
using channel = basic_channel<T, base::real_atomics>;

}  // namespace garrick::patterns::detail
