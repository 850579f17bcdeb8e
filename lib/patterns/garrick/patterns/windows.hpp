// Windows: a result for the tuples of a span of time, for the tuples of a session, or for a number
// of tuples.
//
//   window(tumbling(10s)).by(&reading::sensor)         for each sensor, every ten seconds
//       .event_time(&reading::at, out_of_order(2s))    by the readings' own times
//       .fold(0.0, warmest)                            State step(State, reading)
//
//   window(sliding(10s, 1s))…fold(0, step, merge)      of the last ten seconds, every second
//   window(sessions(5min))…fold(0, step, merge)         until five minutes without a tuple
//   window(tuples(100)).fold(0, step)                   of a hundred tuples
//   window(tuples(100).sliding(10))…                    a hundred, from every tenth on
//   …all(f)                                            f(std::span<const reading>): all at once
//
// A result is a windowed<Key, Value>: the key, begin and end, the value. The end is not part of the
// window. Windows of time begin at multiples of their slide, or of their length.
//
// Without event_time the time of a tuple is the time at which it is taken, by the system's steady
// clock, which counts from a beginning of its own and not from midnight, or by the testkit's
// virtual clock. With event_time (event_time.hpp) tuples may come out of order. A window is put out
// once, as soon as the watermark has reached its end: by then all tuples have arrived that are no
// further behind than out_of_order allows. A tuple that is further behind is late if all its
// windows have closed: it is counted in the report (node_figures::late), and goes to
// late_to(handle) if there is one. With sessions, such a tuple is late unless it lies within an
// open session of its key, from begin to end: a session just before the open one may have been put
// out, and sessions of a key never overlap. A silent producer holds all windows open, unless
// idle_after(time) limits the wait. Only tuples advance the tuples' time: if the only producer, or
// every producer, is silent, the last windows stay open.
//
// Windows that are open when the stream ends are put out then, so every tuple that was not late is
// in a result. If the stream is cancelled or fails, the tuples of open windows are counted as
// dropped.
//
// A node puts windows of time and sessions out in the order of their ends. Windows that count
// tuples are put out when they are full, and at the end of the stream key by key. Between replicas
// there is no order.
//
// State is bounded: closed windows are freed, and at most at_most(n) pieces are open. The pieces of
// a key are the panes from which its windows are put together or, with `all`, its tuples. A tuple
// that needs one more piece is a failure of the stage. For tuples(n) a key is such a piece for
// ever, since its tuples are numbered: so there at_most is also the largest number of keys.
//
// With on_failure::skip a tuple whose key, time or step throws is a dead letter, and a window whose
// merge or `all` throws is lost: its tuples, unless they are in an earlier result, count as
// dropped. With restart a tuple whose key or time throws is a dead letter, too. Any other exception
// loses all open windows of its replica, whose tuples count as dropped in the same way, and
// tuples(n) numbers the tuples from the beginning again. Windows that were put out stay closed.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/detail/aggregate.hpp>
#include <garrick/patterns/detail/spread_windows.hpp>
#include <garrick/patterns/detail/window_check.hpp>
#include <garrick/patterns/detail/window_kinds.hpp>
#include <garrick/patterns/detail/window_stage.hpp>
#include <garrick/patterns/event_time.hpp>
#include <garrick/patterns/farm.hpp>
#include <garrick/patterns/seq.hpp>
#include <garrick/patterns/sinks.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// A window's result. `Time` is `duration`, since the beginning of the tuples' times or of the
/// clock; or std::int64_t: ticks, or the numbers of a key's tuples from 0 on.
template <class Key, class Value, class Time = duration>
struct windowed {
  using time = Time;  ///< of begin and end
  Key key{};          ///< the window's key; `no_key` without `by`
  Time begin{};       ///< the first time in it; of a session, that of its first tuple
  Time end{};         ///< the first time after it; of a session, a gap after its last tuple
  Value value{};      ///< the result of its tuples

  [[nodiscard]] friend bool operator==(const windowed&, const windowed&) = default;
};
/// The same for a key or a value without a default constructor. The framework counts the members of
/// a message, and clang looks at their initialisers for that: `Key key{}` would be an error.
template <class Key, class Value, class Time>
  requires(!std::default_initializable<Key> || !std::default_initializable<Value>)
struct windowed<Key, Value, Time> {
  using time = Time;  ///< of begin and end
  Key key;            ///< the window's key; `no_key` without `by`
  Time begin;         ///< the first time in it; of a session, that of its first tuple
  Time end;           ///< the first time after it; of a session, a gap after its last tuple
  Value value;        ///< the result of its tuples

  [[nodiscard]] friend bool operator==(const windowed&, const windowed&) = default;
};

}  // namespace garrick::patterns

namespace garrick::patterns::detail {

/// The source of a window's times.
struct by_clock {
  static constexpr bool by_events = false;
};
template <class F, class Disorder, bool Idles>
struct by_events_of {
  static constexpr bool by_events = true;
  F f;
  std::int64_t disorder;
  duration idle_after;
};
/// Stands for windows that do not send late tuples.
struct not_sent {};

template <class Time, class T, class Kind>
struct time_check {
  using type = std::conditional_t<Kind::is_counted || std::is_same_v<typename Kind::unit, duration>,
                                  passed_check, clock_has_no_ticks<Kind>>;
};
template <class F, class Disorder, bool Idles, class T, class Kind>
struct time_check<by_events_of<F, Disorder, Idles>, T, Kind> {
  using type =
      std::conditional_t<Kind::is_counted, windows_have_no_times<Kind>,
                         told_once<event_time_check<F, T, typename Kind::unit, Disorder>, F>>;
};
template <class Late, class Time, class T, class Kind>
struct late_check {
  using type = passed_check;
};
template <class P, class Time, class T, class Kind>
struct late_check<ref<P>, Time, T, Kind> {
  using type = first_failure<
      std::conditional_t<Time::by_events, passed_check, no_tuple_is_late<Kind>>,
      std::conditional_t<P::template accepts<T>, passed_check, receiver_does_not_understand<P, T>>>;
};
template <class T, class Late>
[[nodiscard]] late_sink_ptr<T> make_late_sink([[maybe_unused]] const Late& to) {
  if constexpr (std::is_same_v<Late, not_sent>)
    return nullptr;
  else
    return base::shared_as<const late_sink<T>>(
        new late_to_actor<T, typename Late::protocol_type>(to));
}

template <class F, class State, class Merge, bool NeedsMerge>
consteval auto check_window_fold() {
  if constexpr (!accumulates<F, State, argument_of<1, F>>)
    return verdict<window_fold_does_not_fit<F, State>>;
  else if constexpr (NeedsMerge && !combines<Merge, State>)
    return verdict<window_is_put_together<Merge, State>>;
  else
    return verdict<first_failure<part_check<State>, part_check<F>, part_check<Merge>>>;
}
template <class F, bool Copies>
consteval auto check_window_function() {
  using span = tuple_of_span<argument_of<0, F>>;
  if constexpr (!span::is || signature_of_stage<F>::arity != 1) {
    return verdict<window_function_does_not_fit<F>>;
  } else if constexpr (std::is_void_v<typename signature_of_stage<F>::result>) {
    return verdict<window_function_does_not_fit<F>>;
  } else {
    if constexpr (Copies && !base::copyable_message<typename span::type>)
      return verdict<window_copies_tuples<typename span::type>>;
    else
      return verdict<part_check<F>>;
  }
}

}  // namespace garrick::patterns::detail

namespace garrick::patterns {

/// Unfinished windows. `fold` and `all` make the pattern.
template <class Kind, class KeyOf = detail::keyless, class Time = detail::by_clock,
          class Late = detail::not_sent, bool Spread = false>
class window_of {
 public:
  using garrick_unfinished = void;
  /// For the framework: makes windows of the choices so far.
  explicit window_of(Kind kind, KeyOf key = {}, Time time = {}, Late late = {},
                     const detail::window_options& rest = {})
      : kind_(kind),
        key_(std::move(key)),
        time_(std::move(time)),
        late_(std::move(late)),
        rest_(rest) {}

  /// Returns windows that are separate for each key. `key` is a pointer to a member, or a function
  /// of the tuple without captures (otherwise pass lent(f)), whose result std::hash knows.
  template <class Key>
  [[nodiscard]] auto by(Key key) const {
    return with<Key, Time, Late>(std::move(key), time_, late_);
  }
  /// Returns windows that use the tuples' times. `f` is a pointer to a member, or a function of the
  /// tuple without captures (otherwise pass lent(f)); event_time.hpp lists the types of its
  /// results. Not for windows that count tuples.
  template <class F, class Unit = void>
  [[nodiscard]] auto event_time(F f, detail::disorder<Unit> behind = {}) const {
    using time = detail::by_events_of<F, Unit, false>;
    return with<KeyOf, time, Late>(key_, time{std::move(f), behind.most, duration::infinite()},
                                   late_);
  }
  /// This overload refuses a disorder that is not made by out_of_order.
  template <class Call = void>
  [[nodiscard]] auto event_time(detail::anything /*f*/, detail::anything /*behind*/) const {
    static_assert(detail::is_right_call<Call>,
                  "garrick: event_time(time, out_of_order(5s)) takes a member or a function of the "
                  "tuple, and how far a tuple may be behind others");
    return detail::refused_pattern();
  }
  /// Returns windows that a silent producer does not hold open: if no tuple has come from a
  /// producer for that time, by the clock, the other producers decide. Later tuples of the silent
  /// one may be late. Only tuples advance the tuples' time: if the only producer, or every
  /// producer, is silent, the last windows stay open until a tuple comes or the stream ends. Call
  /// it after `event_time`. Throws std::invalid_argument for a time of zero or less.
  [[nodiscard]] auto idle_after(duration time) const {
    constexpr bool by_events = Time::by_events;
    static_assert(detail::unless<by_events, detail::no_producer_is_idle<Kind>>::reported);
    static_cast<void>(
        detail::checked_length<duration>(time.count(), 1, "idle_after(time): the time"));
    if constexpr (by_events)
      return idle(time_, time);
    else
      return *this;
  }
  /// This overload refuses a time that is not a duration.
  template <class Call = void>
  [[nodiscard]] auto idle_after(detail::anything /*time*/) const {
    static_assert(detail::no_length_of_window<Call>::reported);
    return detail::refused_pattern();
  }
  /// Returns windows that send late tuples to this actor, as `to(handle)` sends. With `event_time`
  /// only: other windows have no late tuples.
  template <class P>
  [[nodiscard]] auto late_to(ref<P> receiver) const {
    if (!receiver) throw std::invalid_argument("garrick: window: late_to(handle): it is empty");
    return with<KeyOf, Time, ref<P>>(key_, time_, std::move(receiver));
  }
  /// Returns windows with at most `n` open pieces in each replica; by default 2^20. For tuples(n)
  /// each key counts, for ever. Throws std::invalid_argument for zero.
  [[nodiscard]] window_of at_most(std::size_t n) const {
    if (n == 0) throw std::invalid_argument("garrick: window: at_most(n): n is 0; at least 1");
    window_of w = *this;
    w.rest_.at_most = n;
    return w;
  }
  /// Returns windows in `n` replicas, which share the keys of `by`; call `by` first. The results
  /// are those of one replica, in no order between keys: all replicas use one watermark, so the
  /// same tuples are late. Each replica has its own at_most, and loses only its own windows when it
  /// restarts. With `event_time` a node before them finds the watermark; in reports it is "window
  /// times". Without it a node before them computes the keys, unless the key is a member; that node
  /// is "window keys". Throws std::invalid_argument for zero, and for more than `most_replicas`.
  [[nodiscard]] auto replicas(std::size_t n) const {
    if (n == 0 || n > most_replicas)
      throw std::invalid_argument("garrick: windows have 1 to " + std::to_string(most_replicas) +
                                  " replicas, not " + std::to_string(n));
    return spread_over(n);
  }
  /// Returns windows in as many replicas as stream_options::replicas says, by default one per
  /// worker.
  [[nodiscard]] auto replicas() const { return spread_over(0); }
  /// Returns windows with another name than `window`: for errors, figures and `print`.
  [[nodiscard]] window_of named(std::string name) const {
    window_of w = *this;
    w.rest_.name = std::move(name);
    return w;
  }
  /// This overload refuses a name that is not text.
  template <detail::no_name T>
  [[nodiscard]] window_of named(const T& /*name*/) const {
    static_assert(detail::name_is_no_text<T>::reported);
    return *this;
  }
  /// Returns windows with another answer to exceptions.
  [[nodiscard]] window_of on(on_failure policy) const {
    window_of w = *this;
    w.rest_.policy = policy;
    return w;
  }

  /// Returns a stage that does `state = step(state, tuple)` for each tuple of a window, beginning
  /// with `first`; the last state is the result. Tuples are stepped in the order of their arrival;
  /// in a window of several pieces, in that order within each piece.
  ///
  /// Sliding windows and sessions take `merge(state, state)`, too, the earlier one first: a tuple
  /// goes into one piece, and windows are put together from pieces. Each piece begins with `first`,
  /// so `first` must be neutral: `merge(first, s)` is s. A fold that begins with 100 would count
  /// the 100 once for each piece. The framework chooses where pieces end, so `merge` must be
  /// associative, and it must make no difference whether a tuple is stepped or merged.
  template <class State, class F, class Merge = detail::no_merge>
  [[nodiscard]] auto fold(State first, F step, Merge merge = {}) const {
    using check =
        detail::check_of<decltype(detail::check_window_fold<F, State, Merge, Kind::needs_merge>()),
                         F>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>) {
      using T = detail::argument_of<1, F>;
      using aggregate = detail::folding<T, State, F, Merge>;
      return checked<T>(aggregate(std::move(first), std::move(step), std::move(merge)));
    } else {
      return detail::refused_pattern();
    }
  }
  /// This overload refuses a fold without a function.
  template <class Call = void>
  [[nodiscard]] auto fold(detail::anything /*first*/) const {
    static_assert(detail::window_fold_does_not_fit<Call, void>::reported);
    return detail::refused_pattern();
  }
  /// Returns a stage that calls `f(std::span<const Tuple>)` with all tuples of a window; the span
  /// is valid for that call only. The tuples are in the order of their arrival, not of their times.
  /// In sliding windows and sessions, they are in that order within each piece, and the pieces are
  /// in the order of their times.
  template <class F>
  [[nodiscard]] auto all(F f) const {
    using check =
        detail::check_of<decltype(detail::check_window_function<F, Kind::needs_merge>()), F>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>) {
      using T = typename detail::tuple_of_span<detail::argument_of<0, F>>::type;
      using value = std::decay_t<typename detail::signature_of_stage<F>::result>;
      return checked<T>(detail::whole<T, value, F>(std::move(f)));
    } else {
      return detail::refused_pattern();
    }
  }

 private:
  [[nodiscard]] auto spread_over(std::size_t n) const {
    constexpr bool by_key = !std::is_same_v<KeyOf, detail::keyless>;
    static_assert(detail::unless<by_key, detail::replicas_need_a_key<window_of>>::reported);
    detail::window_options rest = rest_;
    rest.replicas = n;
    return window_of<Kind, KeyOf, Time, Late, by_key>(kind_, key_, time_, late_, rest);
  }
  template <class K, class Tm, class L>
  [[nodiscard]] auto with(K key, Tm time, L late) const {
    return window_of<Kind, K, Tm, L, Spread>(kind_, std::move(key), std::move(time),
                                             std::move(late), rest_);
  }
  template <class F, class Disorder, bool Idles>
  [[nodiscard]] auto idle(const detail::by_events_of<F, Disorder, Idles>& t, duration after) const {
    using time = detail::by_events_of<F, Disorder, true>;
    return with<KeyOf, time, Late>(key_, time{t.f, t.disorder, after}, late_);
  }

  template <class T, class Aggregate>
  [[nodiscard]] auto checked(Aggregate a) const {
    using check =
        detail::first_failure<detail::told_once<detail::window_key_check<KeyOf, T>, KeyOf>,
                              typename detail::time_check<Time, T, Kind>::type,
                              typename detail::late_check<Late, Time, T, Kind>::type>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>) {
      using out = windowed<detail::given<KeyOf, T>, typename Aggregate::value, typename Kind::unit>;
      using tuples = detail::first_failure<detail::tuple_check<T>, detail::tuple_check<out>>;
      static_assert(tuples::reported);
      if constexpr (detail::passes<tuples>)
        return made<T, out>(std::move(a));
      else
        return detail::refused_pattern();
    } else {
      return detail::refused_pattern();
    }
  }
  template <class T, class out, class Aggregate>
  [[nodiscard]] auto made(Aggregate a) const {
    using key = detail::given<KeyOf, T>;
    using windows = typename Kind::template windows<T, key, Aggregate, out>;
    auto w = kind_.template make<windows>(std::move(a), rest_.at_most);
    if constexpr (Kind::is_counted) {
      return beside_each_other<T, out>(
          detail::counted_stage<T, KeyOf, windows>(key_, std::move(w)));
    } else if constexpr (!Time::by_events) {
      return beside_each_other<T, out>(detail::clock_stage<T, KeyOf, windows>(key_, std::move(w)));
    } else {
      return by_events<T, out>(std::move(w), time_);
    }
  }
  template <class T, class Out, class Running>
  [[nodiscard]] auto one_stage(const Running& r) const {
    return seq_stage<Running, T, Out>(r, rest_.name).on(rest_.policy);
  }
  /// Returns replicas that need no knowledge of each other.
  template <class T, class Out, class Running>
  [[nodiscard]] auto beside_each_other(const Running& r) const {
    auto one = one_stage<T, Out>(r);
    if constexpr (!Spread) {
      return one;
    } else {
      const auto farmed = farm(std::move(one)).by_key(key_);
      auto many = rest_.replicas == 0 ? farmed : farmed.replicas(rest_.replicas);
      return detail::farm_of_windows<T, Out, KeyOf, decltype(many)>(key_, std::move(many),
                                                                    rest_.name, rest_.policy);
    }
  }
  template <class T, class Out, class Windows, class F, class Disorder, bool Idles>
  [[nodiscard]] auto by_events(Windows w, const detail::by_events_of<F, Disorder, Idles>& t) const {
    detail::watermark mark(t.disorder, t.idle_after);
    auto late = detail::make_late_sink<T>(late_);
    if constexpr (!Spread) {
      using running = detail::event_stage<T, F, Idles, KeyOf, Windows>;
      return one_stage<T, Out>(running(t.f, std::move(mark), key_, std::move(w), std::move(late)));
    } else if constexpr (Windows::needs_every_watermark) {
      using marks = detail::marking_stage<T, F, Idles>;
      using worker = detail::marked_stage<T, KeyOf, Windows>;
      return detail::spread_sessions<T, Out, marks, KeyOf, worker>(
          marks(t.f, std::move(mark)), key_, worker(key_, std::move(w), std::move(late)),
          rest_.name, rest_.policy, rest_.replicas);
    } else {
      using stamps = detail::stamping_stage<T, F, Idles>;
      using worker = detail::stamped_stage<T, KeyOf, Windows>;
      mark.grain_is(w.grain());
      return detail::spread_windows<T, Out, stamps, KeyOf, worker>(
          stamps(t.f, std::move(mark)), key_, worker(key_, std::move(w), std::move(late)),
          rest_.name, rest_.policy, rest_.replicas);
    }
  }

  Kind kind_;
  [[no_unique_address]] KeyOf key_;
  Time time_;
  Late late_;
  detail::window_options rest_;
};

/// Returns windows of this kind: `tumbling`, `sliding`, `sessions` or `tuples`.
template <class Kind>
[[nodiscard]] auto window(Kind kind) {
  constexpr bool is = requires { Kind::needs_merge; };
  static_assert(detail::unless < is || detail::refused<Kind>,
                detail::no_kind_of_window < Kind >> ::reported);
  if constexpr (is)
    return window_of<Kind>(kind);
  else
    return detail::refused_pattern();
}

/// Returns windows of this length, one after the other. Throws std::invalid_argument for a length
/// of zero or less, or out of range.
[[nodiscard]] inline auto tumbling(duration length) {
  const std::int64_t n =
      detail::checked_length<duration>(length.count(), 1, "tumbling(length): it");
  return detail::time_kind<duration, false>{n, n};
}
/// Returns `tumbling` windows in ticks.
template <std::integral Number>
[[nodiscard]] auto tumbling(Number length) {
  using unit = detail::ticks_unit;
  const std::int64_t n =
      detail::checked_length<unit>(detail::number_of(length), 1, "tumbling(length): it");
  return detail::time_kind<unit, false>{n, n};
}
/// This overload refuses a length that is neither a time nor a number of ticks.
template <class Call = void>
[[nodiscard]] detail::refused_pattern tumbling(detail::anything /*length*/,
                                               detail::anything /*slide*/ = {}) {
  static_assert(detail::no_length_of_window<Call>::reported);
  return {};
}
/// Returns windows of this length, of which one begins after each `slide`. Throws
/// std::invalid_argument as `tumbling` does, for a slide of zero or less or above the length, and
/// if the greatest common divisor of both is less than a hundred-thousandth of the length.
[[nodiscard]] inline auto sliding(duration length, duration slide) {
  const std::int64_t n = detail::checked_length<duration>(length.count(), 1, "sliding(length): it");
  detail::check_slide<duration>(n, slide.count());
  return detail::time_kind<duration, true>{n, slide.count()};
}
/// Returns `sliding` windows in ticks.
template <std::integral Number>
[[nodiscard]] auto sliding(Number length, std::type_identity_t<Number> slide) {
  using unit = detail::ticks_unit;
  const std::int64_t n =
      detail::checked_length<unit>(detail::number_of(length), 1, "sliding(length): it");
  detail::check_slide<unit>(n, detail::number_of(slide));
  return detail::time_kind<unit, true>{n, detail::number_of(slide)};
}
/// This overload refuses lengths that are neither times nor numbers of ticks.
template <class Call = void>
[[nodiscard]] detail::refused_pattern sliding(detail::anything /*length*/,
                                              detail::anything /*slide*/ = {}) {
  static_assert(detail::no_length_of_window<Call>::reported);
  return {};
}
/// Returns windows that end when no tuple has come for `gap`: neighbouring tuples of a session are
/// less than `gap` apart. Sessions of a key never overlap. A tuple that is less than `gap` from two
/// open sessions joins them into one. Of the times 0, 6, 3 with a gap of 5 and no disorder, 3 is
/// late: [0, 5) was put out at 6. Throws std::invalid_argument as `tumbling` does.
[[nodiscard]] inline auto sessions(duration gap) {
  return detail::session_kind<duration>{
      detail::checked_length<duration>(gap.count(), 1, "sessions(gap): it")};
}
/// Returns `sessions` in ticks.
template <std::integral Number>
[[nodiscard]] auto sessions(Number gap) {
  using unit = detail::ticks_unit;
  return detail::session_kind<unit>{
      detail::checked_length<unit>(detail::number_of(gap), 1, "sessions(gap): it")};
}
/// This overload refuses a gap that is neither a time nor a number of ticks.
template <class Call = void>
[[nodiscard]] detail::refused_pattern sessions(detail::anything /*gap*/) {
  static_assert(detail::no_length_of_window<Call>::reported);
  return {};
}
/// Returns windows of `n` tuples; with `tuples(n).sliding(k)`, a window of n tuples begins at every
/// k-th tuple. A window that is not full when the stream ends is put out with its tuples so far.
/// Throws std::invalid_argument for zero, for 2^61 and more, and for a k that is not from 1 to n or
/// that cuts a window into more than 100 000 pieces.
[[nodiscard]] inline auto tuples(std::size_t n) {
  if (n == 0 || n >= static_cast<std::size_t>(detail::most_time))
    throw std::invalid_argument("garrick: tuples(n): n is " + std::to_string(n) +
                                "; it must be above zero, and have an end");
  const auto length = static_cast<std::int64_t>(n);
  return detail::count_kind<false>{length, length};
}

/// This overload refuses a number of tuples that is not a number.
template <class Call = void>
[[nodiscard]] detail::refused_pattern tuples(detail::anything /*n*/) {
  static_assert(detail::no_length_of_window<Call>::reported);
  return {};
}

}  // namespace garrick::patterns
