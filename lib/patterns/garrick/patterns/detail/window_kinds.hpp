// The kinds of windows: their lengths, and the classes that hold them.
//
// Private: installed because templates need it.
//
// Thread safety: plain values.
#pragma once

#include <garrick/patterns/detail/counted.hpp>
#include <garrick/patterns/detail/panes.hpp>
#include <garrick/patterns/detail/sessions.hpp>
#include <garrick/patterns/event_time.hpp>
#include <garrick/patterns/failure_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace garrick::patterns::detail {

/// The options of windows, for any types.
struct window_options {
  window_options();
  window_options(const window_options& o);
  window_options& operator=(const window_options& o);
  ~window_options();

  std::size_t at_most = std::size_t{1} << 20;
  std::size_t replicas = 0;
  on_failure policy = on_failure::fail;
  std::string name = "window";
};

/// Windows of time, which overlap if they slide.
template <class Unit, bool Slides>
struct time_kind {
  using unit = Unit;
  static constexpr bool is_counted = false;
  static constexpr bool needs_merge = Slides;
  template <class T, class Key, class Aggregate, class Window>
  using windows = pane_windows<Slides, T, Key, Aggregate, Window>;
  template <class Windows, class Aggregate>
  [[nodiscard]] Windows make(Aggregate a, std::size_t at_most) const {
    return Windows(length, slide, std::move(a), at_most);
  }
  std::int64_t length;
  std::int64_t slide;
};
template <class Unit>
struct session_kind {
  using unit = Unit;
  static constexpr bool is_counted = false;
  static constexpr bool needs_merge = true;
  template <class T, class Key, class Aggregate, class Window>
  using windows = session_windows<T, Key, Aggregate, Window>;
  template <class Windows, class Aggregate>
  [[nodiscard]] Windows make(Aggregate a, std::size_t at_most) const {
    return Windows(gap, std::move(a), at_most);
  }
  std::int64_t gap;
};
/// Throws std::invalid_argument for a slide that is not above zero, that leaves tuples out, or that
/// would cut windows into very many pieces. `text` gives a time as text.
void check_slide_as(std::int64_t length, std::int64_t slide, std::string (*text)(std::int64_t n));
template <class Unit>
void check_slide(std::int64_t length, std::int64_t slide) {
  check_slide_as(length, slide, &text_of<Unit>);
}
template <bool Slides>
struct count_kind {
  using unit = ticks_unit;
  static constexpr bool is_counted = true;
  static constexpr bool needs_merge = Slides;
  template <class T, class Key, class Aggregate, class Window>
  using windows = counted_windows<Slides, T, Key, Aggregate, Window>;
  template <class Windows, class Aggregate>
  [[nodiscard]] Windows make(Aggregate a, std::size_t at_most) const {
    return Windows(length, slide, std::move(a), at_most);
  }
  /// Returns windows of the last tuples, one after every `k` tuples. Throws std::invalid_argument
  /// if `k` is zero, is more than the window has, or cuts a window into more than 100 000 pieces.
  [[nodiscard]] count_kind<true> sliding(std::size_t k) const {
    const auto n = static_cast<std::int64_t>(k);
    check_slide<ticks_unit>(length, n);
    return {length, n};
  }
  std::int64_t length;
  std::int64_t slide;
};

}  // namespace garrick::patterns::detail
