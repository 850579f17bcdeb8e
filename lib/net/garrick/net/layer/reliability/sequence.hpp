// Numbers of packets that begin again after 2^32, and a set of such numbers.
//
// Two numbers that are less than half the range apart have an order; no two others are ever
// compared. A session begins shortly before the wrap, so that every session passes it, not only the
// longest.
//
// Thread safety: plain functions and values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace garrick::net {

/// The number of a packet of a session.
using sequence_number = std::uint32_t;

/// The first packet of a session.
inline constexpr sequence_number first_sequence = 0u - 256u;
/// The largest distance of a packet from the oldest missing one. Both ends know it.
inline constexpr std::uint32_t sequence_window = 8192;

/// Returns the distance from one number to the other: negative if `to` is before `from`.
[[nodiscard]] constexpr std::int32_t sequence_distance(sequence_number from,
                                                       sequence_number to) noexcept {
  return static_cast<std::int32_t>(to - from);
}

/// A set of numbers within any `sequence_window` of consecutive ones: a bit each.
///
/// Requires that no two members, and no two requested numbers, are further apart.
class sequence_set {
 public:
  /// Makes `s` a member.
  void insert(sequence_number s) noexcept { word(s) |= bit(s); }
  /// Makes `s` no member.
  void erase(sequence_number s) noexcept { word(s) &= ~bit(s); }
  /// Returns true if `s` is a member.
  [[nodiscard]] bool contains(sequence_number s) const noexcept {
    return (words_[index(s)] & bit(s)) != 0;
  }

  /// Calls `f` with each member of the `count` numbers from `first` on; it may erase that one.
  template <class F>
  void each(sequence_number first, std::uint32_t count, F f) {
    while (count != 0) {
      const std::uint32_t at = first % 64;
      const std::uint32_t here = std::min(64 - at, count);
      const std::uint64_t mask = (~std::uint64_t{0} >> (64 - here)) << at;
      for (std::uint64_t left = words_[index(first)] & mask; left != 0; left &= left - 1)
        f(first - at + static_cast<std::uint32_t>(std::countr_zero(left)));
      first += here;
      count -= here;
    }
  }
  /// Returns the length of the run of members from `first` on, at most `most`.
  [[nodiscard]] std::uint32_t members_from(sequence_number first,
                                           std::uint32_t most) const noexcept {
    std::uint32_t n = 0;
    while (n < most) {
      const std::uint32_t at = (first + n) % 64;
      const auto here = static_cast<std::uint32_t>(std::countr_one(words_[index(first + n)] >> at));
      n += here;
      if (here < 64 - at) break;
    }
    return std::min(n, most);
  }
  /// Returns the length of the run of members (or, if `members` is false, of non-members) before
  /// `end`, at most `most`.
  [[nodiscard]] std::uint32_t run_before(sequence_number end, std::uint32_t most,
                                         bool members) const noexcept {
    std::uint32_t n = 0;
    while (n < most) {
      const sequence_number last = end - n - 1;
      const std::uint64_t found = members ? words_[index(last)] : ~words_[index(last)];
      const std::uint32_t at = last % 64;
      const auto here = static_cast<std::uint32_t>(std::countl_one(found << (63 - at)));
      n += here;
      if (here <= at) break;
    }
    return std::min(n, most);
  }

 private:
  static_assert(sequence_window % 64 == 0 && std::has_single_bit(sequence_window));
  [[nodiscard]] static constexpr std::size_t index(sequence_number s) noexcept {
    return s / 64 % (sequence_window / 64);
  }
  [[nodiscard]] static constexpr std::uint64_t bit(sequence_number s) noexcept {
    return std::uint64_t{1} << s % 64;
  }
  [[nodiscard]] std::uint64_t& word(sequence_number s) noexcept { return words_[index(s)]; }

  std::array<std::uint64_t, sequence_window / 64> words_{};
};

}  // namespace garrick::net
