// Joins two streams by key: two tuples with the same key whose times are near enough are a pair.
//
//   pipeline(orders,
//            join_with(payments)                          any composition that begins with a source
//                .by(&order::id, &payment::order)
//                .event_time(&order::at, &payment::at, out_of_order(2s))
//                .within(10min)
//                .with(settled_order), …)                  Out f(const order&, const payment&)
//
// It is an inner join: a pair is put out as soon as both tuples have come, in no order between
// pairs, and a tuple without a partner has no result. A tuple that is behind the watermark of its
// own side (event_time.hpp) is late: it is counted in the report (node_figures::late), and meets no
// tuple. So the pairs do not depend on which side is read first.
//
// State is bounded: a tuple is kept until the other side's watermark has passed the latest time
// that a partner could have, and up to before + after longer, since tuples are freed together. With
// equally many tuples on both sides, up to three times the necessary number is kept. If one side is
// ahead, so that half of at_most(n) tuples are kept, it waits for the other side, unless the other
// side has ended or is idle. More than at_most(n) tuples are a failure of the stage. Then the
// interval is too long for this limit, or a side's time does not advance: without idle_after(time),
// one silent producer stops the time of its side, and the tuples of the side's other producers are
// kept meanwhile.
//
// With on_failure::skip only the pair for which the function throws is lost: it is counted as a
// failure, and copies of both tuples, if they can be copied, become a dead letter. Both tuples stay
// and may meet others, so the other pairs still do not depend on the order. A tuple whose key or
// time throws becomes a dead letter, and so does a tuple for which there is no room.
//
// With restart the later tuple of a pair that throws is a dead letter: its pairs are dropped, and
// the kept tuples are lost and counted as dropped, as when the stream is cancelled. The set of lost
// pairs depends on the order in which the sides were read. A key or a time that throws costs no
// pair.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/detail/join_node.hpp>
#include <garrick/patterns/detail/window_check.hpp>
#include <garrick/patterns/event_time.hpp>
#include <garrick/patterns/pipeline.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// Stands for a choice that the join lacks so far.
struct unsaid {};

/// Joins a stream of L with the source P.
template <class L, class Out, class P, class Stage>
class join_of {
  using R = typename P::output;
  static_assert(first_failure<tuple_check<L>, tuple_check<Out>>::reported);

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = L;     ///< the type of its tuples
  using output = Out;  ///< the type of its results

  join_of(P source, const Stage& stage, const join_options& o)
      : source_(std::move(source)),
        join_(join_type_of<Stage, Out>, &stage, nullptr, o.name),
        idles_(stage.idles()) {
    join_.policy = o.policy;
  }

  [[nodiscard]] plan describe() const {
    return {.what = "join", .name = join_.name, .emitter = false, .parts = {source_.describe()}};
  }
  inlet_ptr<L> build(const builder& b, const inlet_ptr<Out>& next) const {
    join_node& n =
        add_join(b, join_, idles_, tuple_type_of<L>, tuple_type_of<R>, &joins_of<Stage>, next);
    source_.build(beside_of_join(b, join_), inlet_of(n, n.other(), b.options.capacity));
    return inlet_of(n, n.in(), b.options.capacity);
  }

 private:
  P source_;
  any_seq join_;
  bool idles_;
};

template <class P, bool IsSource = false>
struct join_with_no_source : failed_check {
  static_assert(IsSource,
                "garrick: join_with(source) joins a stream with the tuples of a source: this "
                "pattern takes tuples, or ends in a sink");
};
template <class F>
consteval auto check_join_side() {
  if constexpr (!passes<stage_check<F>>) {
    return verdict<stage_check<F>>;
  } else {
    using P = stage_of<F>;
    if constexpr (!std::is_void_v<typename P::input> || std::is_void_v<typename P::output>)
      return verdict<join_with_no_source<P>>;
    else
      return verdict<run_check<P>>;
  }
}

template <class F, class R>
consteval auto check_pair() {
  using L = argument_of<0, F>;
  if constexpr (signature_of_stage<F>::arity != 2) {
    return verdict<pairs_do_not_fit<F, L, R>>;
  } else if constexpr (!std::is_same_v<argument_of<1, F>, R> ||
                       !std::is_invocable_v<callee<F>, const L&, const R&>) {
    return verdict<pairs_do_not_fit<F, L, R>>;
  } else {
    if constexpr (std::is_void_v<typename signature_of_stage<F>::result>)
      return verdict<pairs_do_not_fit<F, L, R>>;
    else
      return verdict<part_check<F>>;
  }
}
template <class Spec, bool Said = false>
struct join_says_too_little : failed_check {
  static_assert(Said,
                "garrick: a join says by(left_key, right_key), event_time(left_time, right_time) "
                "and within(interval) before with(f)");
};
template <class KeyL, class KeyR, class TimeL, class TimeR, class Interval, class Disorder, class L,
          class R>
consteval auto check_join() {
  using keys = first_failure<told_once<window_key_check<KeyL, L>, KeyL>,
                             told_once<window_key_check<KeyR, R>, KeyR>>;
  using times = first_failure<told_once<event_time_check<TimeL, L, Interval, Disorder>, TimeL>,
                              told_once<event_time_check<TimeR, R, Interval, Disorder>, TimeR>>;
  if constexpr (!passes<keys>) {
    return verdict<keys>;
  } else {
    using kl = given<KeyL, L>;
    using kr = given<KeyR, R>;
    if constexpr (!std::is_same_v<kl, kr>)
      return verdict<keys_of_join_differ<kl, kr>>;
    else
      return verdict<times>;
  }
}

}  // namespace garrick::patterns::detail

namespace garrick::patterns {

/// An unfinished join. `with` makes the pattern.
template <class P, class KeyL = detail::unsaid, class KeyR = detail::unsaid,
          class TimeL = detail::unsaid, class TimeR = detail::unsaid, class Disorder = void,
          class Interval = void>
class join_spec {
 public:
  using garrick_unfinished = void;
  /// For the framework: makes a join of the choices so far.
  explicit join_spec(P source, KeyL kl = {}, KeyR kr = {}, TimeL tl = {}, TimeR tr = {},
                     const detail::join_options& rest = {})
      : source_(std::move(source)),
        key_l_(std::move(kl)),
        key_r_(std::move(kr)),
        time_l_(std::move(tl)),
        time_r_(std::move(tr)),
        rest_(rest) {}

  /// Returns a join by these keys of the stream's tuples and of the source's. Each is a pointer to
  /// a member or a function of the tuple without captures (otherwise pass lent(f)), and std::hash
  /// knows their type.
  template <class L, class R>
  [[nodiscard]] auto by(L left, R right) const {
    return join_spec<P, L, R, TimeL, TimeR, Disorder, Interval>(
        source_, std::move(left), std::move(right), time_l_, time_r_, rest_);
  }
  /// This overload refuses a single key: a join has two.
  template <class Call = void>
  [[nodiscard]] auto by(detail::anything /*left*/) const {
    static_assert(detail::join_says_too_little<Call>::reported);
    return detail::refused_pattern();
  }
  /// Returns a join by these times, given as the keys are (event_time.hpp). `behind` says how far a
  /// tuple may be behind others of its side.
  template <class L, class R, class Unit = void>
  [[nodiscard]] auto event_time(L left, R right, detail::disorder<Unit> behind = {}) const {
    detail::join_options rest = rest_;
    rest.times.disorder = behind.most;
    return join_spec<P, KeyL, KeyR, L, R, Unit, Interval>(source_, key_l_, key_r_, std::move(left),
                                                          std::move(right), rest);
  }
  /// Returns a join of pairs whose times are at most `most` apart. Throws std::invalid_argument if
  /// `most` is negative or out of range.
  [[nodiscard]] auto within(duration most) const { return within(most, most); }
  /// Returns a join of pairs in which the right tuple's time is at most `before` less than the left
  /// one's, or at most `after` more.
  [[nodiscard]] auto within(duration before, duration after) const {
    return within_of<duration>(before.count(), after.count());
  }
  /// Returns a join of pairs whose times are at most `most` ticks apart.
  template <std::integral Number>
  [[nodiscard]] auto within(Number most) const {
    return within(most, most);
  }
  /// Returns the same as above, in ticks.
  template <std::integral Number>
  [[nodiscard]] auto within(Number before, std::type_identity_t<Number> after) const {
    return within_of<detail::ticks_unit>(detail::number_of(before), detail::number_of(after));
  }
  /// This overload refuses an interval that is neither a time nor a number of ticks.
  template <class Call = void>
  [[nodiscard]] auto within(detail::anything /*before*/, detail::anything /*after*/ = {}) const {
    static_assert(detail::no_length_of_window<Call>::reported);
    return detail::refused_pattern();
  }
  /// Returns a join that does not wait for a silent side: a side from which no tuple has come for
  /// that time, by the clock, counts as being as far as the other side. The same holds for one of
  /// several producers of a side. Later tuples of such a side or producer may be late. Throws
  /// std::invalid_argument for a time of zero or less, or out of range.
  [[nodiscard]] auto idle_after(duration time) const {
    detail::join_options rest = rest_;
    static_cast<void>(
        detail::checked_length<duration>(time.count(), 1, "idle_after(time): the time"));
    rest.times.idle_after = time;
    return join_spec<P, KeyL, KeyR, TimeL, TimeR, Disorder, Interval>(source_, key_l_, key_r_,
                                                                      time_l_, time_r_, rest);
  }
  /// Returns a join that keeps at most `n` tuples; by default 2^20. It needs room for the left
  /// tuples of a span of 2 * `after` + `before`, for the right tuples of a span of 2 * `before` +
  /// `after`, and for the tuples of each side's disorder. Throws std::invalid_argument for zero.
  [[nodiscard]] join_spec at_most(std::size_t n) const {
    if (n == 0) throw std::invalid_argument("garrick: join: at_most(n): n is 0; at least 1");
    join_spec s = *this;
    s.rest_.times.at_most = n;
    return s;
  }
  /// Returns a join with another name than `join`: for errors, figures and `print`.
  [[nodiscard]] join_spec named(std::string name) const {
    join_spec s = *this;
    s.rest_.name = std::move(name);
    return s;
  }
  /// This overload refuses a name that is not text.
  template <detail::no_name T>
  [[nodiscard]] join_spec named(const T& /*name*/) const {
    static_assert(detail::name_is_no_text<T>::reported);
    return *this;
  }
  /// Returns a join with another answer to exceptions.
  [[nodiscard]] join_spec on(on_failure policy) const {
    join_spec s = *this;
    s.rest_.policy = policy;
    return s;
  }

  /// Returns a stage that puts out `f(left, right)` for each pair: a function
  /// `Out f(const Left&, const Right&)` that names its types.
  template <class F>
  [[nodiscard]] auto with(F f) const {
    constexpr bool said = !std::is_same_v<KeyL, detail::unsaid> &&
                          !std::is_same_v<TimeL, detail::unsaid> && !std::is_void_v<Interval>;
    static_assert(detail::unless<said, detail::join_says_too_little<join_spec>>::reported);
    if constexpr (said)
      return checked(std::move(f));
    else
      return detail::refused_pattern();
  }

 private:
  using R = typename P::output;

  template <class Unit>
  [[nodiscard]] auto within_of(std::int64_t before, std::int64_t after) const {
    detail::join_options rest = rest_;
    rest.times.before = detail::checked_length<Unit>(before, 0, "within(interval): it");
    rest.times.after = detail::checked_length<Unit>(after, 0, "within(interval): it");
    return join_spec<P, KeyL, KeyR, TimeL, TimeR, Disorder, Unit>(source_, key_l_, key_r_, time_l_,
                                                                  time_r_, rest);
  }
  template <class F>
  [[nodiscard]] auto checked(F f) const {
    using pair = detail::check_of<decltype(detail::check_pair<F, R>()), F>;
    static_assert(pair::reported);
    if constexpr (detail::passes<pair>) {
      using L = detail::argument_of<0, F>;
      using check = detail::check_of<
          decltype(detail::check_join<KeyL, KeyR, TimeL, TimeR, Interval, Disorder, L, R>())>;
      static_assert(check::reported);
      if constexpr (detail::passes<check>)
        return made<L>(std::move(f));
      else
        return detail::refused_pattern();
    } else {
      return detail::refused_pattern();
    }
  }
  template <class L, class F>
  [[nodiscard]] auto made(F f) const {
    using out = std::decay_t<typename detail::signature_of_stage<F>::result>;
    using said = detail::join_parts<KeyL, KeyR, TimeL, TimeR, F>;
    using stage = detail::join_stage<L, R, out, detail::given<KeyL, L>, said>;
    return detail::join_of<L, out, P, stage>(source_,
                                             stage(said{.key_l = key_l_,
                                                        .key_r = key_r_,
                                                        .time_l = time_l_,
                                                        .time_r = time_r_,
                                                        .pair = std::move(f)},
                                                   rest_.times),
                                             rest_);
  }

  P source_;
  KeyL key_l_;
  KeyR key_r_;
  TimeL time_l_;
  TimeR time_r_;
  detail::join_options rest_;
};

/// Returns an unfinished join of a stream with `source`, any composition that begins with a source:
/// the part of a pipeline before the join is the left side, and `source` is the right side.
///
/// Only a source can be the other side. Two branches of one stream would stall as soon as the join
/// waits for one branch while the channels of the other are full.
template <class P>
[[nodiscard]] auto join_with(P source) {
  using check = detail::check_of<decltype(detail::check_join_side<P>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return join_spec<detail::stage_of<P>>(seq(std::move(source)));
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
