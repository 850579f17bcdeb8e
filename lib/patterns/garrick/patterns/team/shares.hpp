// Who does which part of a container. It is cut into pieces, and each of those that take part
// claims one, does it, and claims the next, until none is left.
//
// Private: installed because templates need it.
//
// Thread safety: `claim` and `finish` are for all threads that take part.
//
// Invariants
// S1 Each piece is claimed by one thread.
// S2 `finish` gives true once: to who has finished the last element. That thread sees what all
//    others wrote before they finished theirs.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace garrick::patterns::detail {

/// A part of a container: the elements from `begin` to the one before `end`.
struct piece {
  std::size_t number = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const noexcept { return begin == end; }
};

/// How a container is cut.
struct cut {
  std::size_t size = 0;    ///< so many elements
  std::size_t pieces = 0;  ///< so many pieces, none of them empty
  std::size_t length = 0;  ///< of a piece, but for the last one; 0: they are alike, but for one
  /// Each of those that take part begins with the piece that has its number; else they are claimed
  /// in their order.
  bool by_hand = false;

  /// In so many pieces of like lengths, or fewer.
  [[nodiscard]] static cut evenly(std::size_t size, std::size_t pieces, bool by_hand) noexcept {
    return {size, pieces < size ? pieces : size, 0, by_hand};
  }
  /// In pieces of `length`, which is not zero.
  [[nodiscard]] static cut by_length(std::size_t size, std::size_t length) noexcept {
    return {size, size / length + (size % length != 0 ? 1 : 0), length, false};
  }
  /// The piece of that number.
  [[nodiscard]] piece at(std::size_t number) const noexcept {
    if (length == 0) return {number, begin_of(number), begin_of(number + 1)};
    const std::size_t begin = number * length;
    return {number, begin, size - begin < length ? size : begin + length};
  }

 private:
  // without a product that could be too large
  [[nodiscard]] std::size_t begin_of(std::size_t number) const noexcept {
    const std::size_t rest = size % pieces;
    return size / pieces * number + (number < rest ? number : rest);
  }
};

/// The memory orders that the model checker weakens, one at a time.
enum class shares_order : std::uint8_t {
  finish,  ///< somebody has finished some elements
};

/// The pieces of a container, and who has claimed them.
template <class Atomics = base::real_atomics>
class basic_shares {
 public:
  /// Nobody has claimed anything.
  explicit basic_shares(const cut& c)
      : cut_(c), taken_(c.by_hand ? std::make_unique<flag[]>(c.pieces) : nullptr), left_(c.size) {}

  [[nodiscard]] const cut& how() const noexcept { return cut_; }

  /// Claims a piece for the one that takes part as `who`. False: none is left.
  [[nodiscard]] bool claim(std::size_t who, piece& claimed) noexcept {
    if (taken_ == nullptr) {
      // Looked at first, so that who comes again and again does not count without end.
      // order: relaxed: a number is claimed; what is in the piece was there before the threads were
      if (next_.load(std::memory_order_relaxed) >= cut_.pieces) return false;
      // order: relaxed: as above
      const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed);
      if (number >= cut_.pieces) return false;
      claimed = cut_.at(number);
      return true;
    }
    for (std::size_t i = 0; i < cut_.pieces; ++i) {
      const std::size_t number = (who + i) % cut_.pieces;
      // order: relaxed: as above
      if (taken_[number].load(std::memory_order_relaxed) != 0) continue;
      // order: relaxed: as above
      if (taken_[number].exchange(1, std::memory_order_relaxed) != 0) continue;
      claimed = cut_.at(number);
      return true;
    }
    return false;
  }
  /// So many elements are done. True: they were the last ones.
  [[nodiscard]] bool finish(std::size_t elements) noexcept {
    // order: acq_rel: what was written before, to who finishes the last ones
    return left_.fetch_sub(elements, base::order<Atomics, shares_order::finish>(
                                         std::memory_order_acq_rel)) == elements;
  }

 private:
  using flag = typename Atomics::template atomic<std::uint8_t>;

  const cut cut_;
  const std::unique_ptr<flag[]> taken_;
  typename Atomics::template atomic<std::size_t> next_{0};
  typename Atomics::template atomic<std::size_t> left_;  ///< elements that are not done
};

using shares = basic_shares<base::real_atomics>;

}  // namespace garrick::patterns::detail
