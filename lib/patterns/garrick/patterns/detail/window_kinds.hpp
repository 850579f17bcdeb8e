// The kinds of windows: what their lengths are, and what keeps them.
//
// Private: installed because templates need it.
//
// Thread safety: plain values.
#pragma once

#include <garrick/patterns/detail/counted.hpp>
#include <garrick/patterns/detail/panes.hpp>
#include <garrick/patterns/detail/sessions.hpp>
#include <garrick/patterns/event_time.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace garrick::patterns::detail {

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
/// Throws std::invalid_argument for a slide that leaves tuples out, or that would cut windows into
/// very many pieces.
template <class Unit>
void check_slide(std::int64_t length, std::int64_t slide) {
  constexpr std::int64_t most_panes = 100'000;
  if (slide <= 0 || slide > length)
    throw std::invalid_argument("garrick: window: the slide is " + text_of<Unit>(slide) +
                                "; above zero, and at most the length, which is " +
                                text_of<Unit>(length));
  if (length / std::gcd(length, slide) > most_panes)
    throw std::invalid_argument("garrick: window: a length of " + text_of<Unit>(length) +
                                " and a slide of " + text_of<Unit>(slide) +
                                " cut a window into more than 100000 pieces");
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
  /// A window of the last ones after every `k` tuples. Throws std::invalid_argument for zero, and
  /// for more than the window has.
  [[nodiscard]] count_kind<true> sliding(std::size_t k) const {
    const auto n = static_cast<std::int64_t>(k);
    check_slide<ticks_unit>(length, n);
    return {length, n};
  }
  std::int64_t length;
  std::int64_t slide;
};

}  // namespace garrick::patterns::detail
