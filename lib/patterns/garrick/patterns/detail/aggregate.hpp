// The result of a window: a fold of its tuples into a state, or one call with all of them. Also the
// counts of tuples that windows of every kind keep or lose.
//
// Private: installed because templates need it.
//
// Thread safety: none.
#pragma once

#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// Stands for the `merge` of a fold whose states are never merged.
struct no_merge {};

/// Does `state = f(state, tuple)` for each tuple, and merges states, the earlier one first.
template <class T, class State, class F, class Merge>
class folding {
 public:
  using state = State;
  using value = State;
  static constexpr bool keeps_tuples = false;

  folding(State first, F f, Merge put_together)
      : first_(std::move(first)), f_(std::move(f)), merge_(std::move(put_together)) {}
  [[nodiscard]] State begin(T&& in) { return called(f_)(State(first_), std::move(in)); }
  void step(State& s, T&& in) {
    if (keeps_) [[unlikely]]
      s = called(f_)(State(s), std::move(in));
    else
      s = called(f_)(std::move(s), std::move(in));
  }
  void merge(State& into, State&& later) {
    into = called(merge_)(std::move(into), std::move(later));
  }
  [[nodiscard]] State give(State&& s) noexcept(std::is_nothrow_move_constructible_v<State>) {
    return std::move(s);
  }
  /// Makes each step work on a copy of the state, since a step that throws may have moved from its
  /// argument.
  void goes_on_after_failures() noexcept { keeps_ = true; }

 private:
  State first_;
  [[no_unique_address]] F f_;
  [[no_unique_address]] Merge merge_;
  bool keeps_ = false;
};

/// Calls `f(std::span<const T>)` with all tuples.
template <class T, class Value, class F>
class whole {
 public:
  using state = std::vector<T>;
  using value = Value;
  static constexpr bool keeps_tuples = true;

  explicit whole(F f) : f_(std::move(f)) {}
  [[nodiscard]] state begin(T&& in) {
    state s;
    s.push_back(std::move(in));
    return s;
  }
  void step(state& s, T&& in) { s.push_back(std::move(in)); }
  void merge(state& into, state&& later) {
    const std::size_t all = into.size() + later.size();
    // an exact reserve would move the elements for each piece that is merged
    if (all > into.capacity()) into.reserve(std::max(all, 2 * into.capacity()));
    for (T& x : later) into.push_back(std::move(x));
  }
  [[nodiscard]] Value give(state&& s) { return called(f_)(std::span<const T>(s)); }
  void goes_on_after_failures() noexcept {}

 private:
  [[no_unique_address]] F f_;
};

/// The number of tuples that windows hold, and the fate of the others. Every tuple that is taken is
/// in one of these counts, until a result that it is part of has been put out.
class window_counts {
 public:
  explicit window_counts(std::size_t most) noexcept : most_(most) {}
  /// Makes a copy with counts of zero.
  window_counts(const window_counts& o) noexcept : window_counts(o.most_) {}
  window_counts(window_counts&&) noexcept = default;
  window_counts& operator=(const window_counts&) = delete;
  ~window_counts() = default;

  /// Returns the number of tuples that are in no result yet.
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }
  /// Returns the number of tuples since the last call that will be in no result: the function for
  /// the result has thrown, or the windows were cleared.
  [[nodiscard]] std::size_t take_lost() noexcept { return std::exchange(lost_, 0); }

  void take() noexcept { ++kept_; }
  /// Notes that `n` tuples are in a result now.
  void gave(std::size_t n) noexcept { kept_ -= n; }
  void lose(std::size_t n) noexcept {
    kept_ -= n;
    lost_ += n;
  }
  void lose_all() noexcept { lose(kept_); }

  /// Returns true if one more piece is allowed beside `pieces` pieces of windows.
  [[nodiscard]] bool has_room_for_one_more(std::size_t pieces) const noexcept {
    return pieces < most_;
  }
  /// Throws std::length_error if there is no room for one more piece.
  void room_for_one_more(std::size_t pieces) const {
    if (!has_room_for_one_more(pieces)) [[unlikely]]
      no_room();
  }

 private:
  [[noreturn]] void no_room() const;

  std::size_t most_;
  std::size_t kept_ = 0;
  std::size_t lost_ = 0;
};

/// The common part of all kinds of windows.
template <class Aggregate>
class windows_base : public asks_tuples {
 public:
  windows_base(Aggregate a, std::size_t at_most) : aggregate_(std::move(a)), counts_(at_most) {}

  [[nodiscard]] window_counts& counts() noexcept { return counts_; }
  [[nodiscard]] const window_counts& counts() const noexcept { return counts_; }
  void goes_on_after_failures() noexcept { aggregate_.goes_on_after_failures(); }

 protected:
  Aggregate aggregate_;
  window_counts counts_;
};
/// The times of windows that are cut into panes. A pane is as long as the greatest common divisor
/// of a window's length and its slide. So a tuple is folded into one pane, and a window is put
/// together from panes.
struct cut_times {
  cut_times(std::int64_t length_of_windows, std::int64_t slide_of_windows) noexcept;

  std::int64_t length;
  std::int64_t slide;
  std::int64_t pane;
};

}  // namespace garrick::patterns::detail
