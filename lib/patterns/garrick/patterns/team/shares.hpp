// The pieces of a container, and their claims. Each participant claims a piece, works on it, and
// claims the next, until none is left. The pieces are claimed in their order; or each participant
// first claims the pieces of its own part, so that it works on elements side by side, and on the
// same elements from request to request.
//
// Private: installed because templates need it.
//
// Thread safety: `claim` and `finish` are for all threads that take part.
//
// Invariants
// S1 Each piece is claimed by one thread.
// S2 `finish` returns true once: to the thread that has finished the last element. That thread sees
//    all writes that the other threads made before they finished their elements.
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

/// The division of a container into pieces.
struct cut {
  std::size_t size = 0;    ///< this many elements
  std::size_t pieces = 0;  ///< the number of pieces, none of them empty
  std::size_t length = 0;  ///< of each piece except the last; 0: lengths differ by at most one
  /// If true, each participant begins with pieces of its own; otherwise the participants claim all
  /// pieces in their order.
  bool by_hand = false;
  std::size_t hands = 0;  ///< the number of participants with pieces of their own; 0: as many as
                          ///< there are pieces

  /// Returns a cut into `pieces` pieces of nearly equal lengths, or into fewer if there are fewer
  /// elements.
  [[nodiscard]] static cut evenly(std::size_t size, std::size_t pieces, bool by_hand) noexcept {
    return {size, pieces < size ? pieces : size, 0, by_hand};
  }
  /// Returns a cut for `hands` participants. Each begins with `each` pieces side by side, or with
  /// fewer if there are too few elements. Requires that neither number is zero.
  [[nodiscard]] static cut for_hands(std::size_t size, std::size_t hands,
                                     std::size_t each) noexcept {
    cut c = evenly(size, size / each < hands ? size : hands * each, true);
    c.hands = hands < size ? hands : size;
    return c;
  }
  /// Returns a cut into pieces of `length`, which is not zero.
  [[nodiscard]] static cut by_length(std::size_t size, std::size_t length) noexcept {
    return {size, size / length + (size % length != 0 ? 1 : 0), length, false};
  }
  /// Returns the piece of that number.
  [[nodiscard]] piece at(std::size_t number) const noexcept {
    if (length == 0) return {number, begin_of(number), begin_of(number + 1)};
    const std::size_t begin = number * length;
    return {number, begin, size - begin < length ? size : begin + length};
  }
  /// For a cut `by_hand`: returns the number of the first piece of hand `i`. The number for hand
  /// `i + 1` is behind its last piece.
  [[nodiscard]] std::size_t first_of(std::size_t i) const noexcept {
    return hands == 0 ? i : begin_of_part(pieces, hands, i);
  }

 private:
  [[nodiscard]] std::size_t begin_of(std::size_t number) const noexcept {
    return begin_of_part(size, pieces, number);
  }
  // without a product that could be too large
  [[nodiscard]] static std::size_t begin_of_part(std::size_t all, std::size_t parts,
                                                 std::size_t i) noexcept {
    const std::size_t rest = all % parts;
    return all / parts * i + (i < rest ? i : rest);
  }
};

/// The memory orders that the model checker weakens, one at a time.
enum class shares_order : std::uint8_t {
  finish,  ///< a thread has finished some elements
};

/// The pieces of a container, and their claims.
template <class Atomics = base::real_atomics>
class basic_shares {
 public:
  /// Makes shares with no piece claimed.
  explicit basic_shares(const cut& c)
      : cut_(c), taken_(c.by_hand ? std::make_unique<flag[]>(c.pieces) : nullptr), left_(c.size) {}

  [[nodiscard]] const cut& how() const noexcept { return cut_; }

  /// Claims a piece for participant `who`, or several of its own pieces side by side, until they
  /// are `enough` elements. Returns false if none is left.
  [[nodiscard]] bool claim(std::size_t who, piece& claimed, std::size_t enough = 1) noexcept {
    if (taken_ == nullptr) {
      // A look comes first, so that a participant that comes again and again does not raise the
      // number without end.
      // order: relaxed: a number is claimed; the contents of the piece were there before the
      // threads
      if (next_.load(std::memory_order_relaxed) >= cut_.pieces) return false;
      // order: relaxed: as above
      const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed);
      if (number >= cut_.pieces) return false;
      claimed = cut_.at(number);
      return true;
    }
    if (cut_.pieces == 0) return false;
    const std::size_t hands = cut_.hands == 0 ? cut_.pieces : cut_.hands;
    const std::size_t own = who % hands;
    if (claim_own(cut_.first_of(own), cut_.first_of(own + 1), claimed, enough)) return true;
    for (std::size_t i = 1; i < hands; ++i) {
      const std::size_t other = (own + i) % hands;
      // from its last piece, far from where that participant works
      for (std::size_t k = cut_.first_of(other + 1); k > cut_.first_of(other); --k)
        if (claim_piece(k - 1, claimed)) return true;
    }
    return false;
  }
  /// Counts this many elements as done. Returns true if they were the last ones.
  [[nodiscard]] bool finish(std::size_t elements) noexcept {
    // order: acq_rel: earlier writes, to the thread that finishes the last ones
    return left_.fetch_sub(elements, base::order<Atomics, shares_order::finish>(
                                         std::memory_order_acq_rel)) == elements;
  }

 private:
  using flag = typename Atomics::template atomic<std::uint8_t>;

  [[nodiscard]] bool claim_piece(std::size_t number, piece& claimed) noexcept {
    // order: relaxed: a number is claimed; the contents of the piece were there before the threads
    if (taken_[number].load(std::memory_order_relaxed) != 0) return false;
    // order: relaxed: as above
    if (taken_[number].exchange(1, std::memory_order_relaxed) != 0) return false;
    claimed = cut_.at(number);
    return true;
  }
  /// Claims one or more of the pieces from `first` to before `end`.
  [[nodiscard]] bool claim_own(std::size_t first, std::size_t end, piece& claimed,
                               std::size_t enough) noexcept {
    while (first != end && !claim_piece(first, claimed)) ++first;
    if (first == end) return false;
    piece next;
    while (claimed.end - claimed.begin < enough && ++first != end && claim_piece(first, next))
      claimed.end = next.end;
    return true;
  }

  const cut cut_;
  const std::unique_ptr<flag[]> taken_;
  typename Atomics::template atomic<std::size_t> next_{0};
  typename Atomics::template atomic<std::size_t> left_;  ///< elements that are not done
};

using shares = basic_shares<base::real_atomics>;

}  // namespace garrick::patterns::detail
