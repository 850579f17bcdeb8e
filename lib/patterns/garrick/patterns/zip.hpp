// A stream and a source side by side: the first tuple of one with the first of the other, and so
// on.
//
//   pipeline(lines_of(path), zip<slice>(counting(1L, 1L << 62)), …)     numbers the lines
//
// Only a source can be the other side. Two branches of one stream would stand still as soon as one
// of them drops so many tuples that the other's channels are full.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/pipeline.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Reads one of each.
template <class A, class B>
class zip_node final : public stage_node_base<forwards<std::pair<A, B>>, std::pair<A, B>> {
  using base = stage_node_base<forwards<std::pair<A, B>>, std::pair<A, B>>;

 public:
  zip_node(graph& of, const node_options& o)
      : base(of, o, on_failure::fail, forwards<std::pair<A, B>>()) {}

  inputs<A>& in() noexcept { return in_; }
  inputs<B>& other() noexcept { return other_; }
  std::size_t drop_inputs() noexcept override { return in_.drop() + other_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override {
    return in_.waiting() + other_.waiting();
  }

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (!this->catches_up(t)) return this->blocked();
    this->start();
    if (over_) return wind_down(t);
    if (out.is_unwanted()) leave();
    const std::span<A> as = in_.next(this->batch());
    const std::span<B> bs = other_.next(as.size());
    if (as.empty() || bs.empty()) return nothing(as.empty());
    const std::size_t before = out.pending();
    std::size_t n = 0;
    std::exception_ptr bad_route;
    try {
      while (n < bs.size() && n < as.size() && !out.is_blocked()) {
        out.begin_input();
        const std::size_t i = n++;
        out.put(std::move(as[i]), std::move(bs[i]));
      }
    } catch (...) {
      bad_route = std::current_exception();
      this->count_lost();
    }
    this->count_in(2 * n);
    this->into_loops(out.pending() - before);
    const bool all = this->publish(t);
    in_.done(n);
    other_.done(n);
    this->out_of_loops(n);
    if (bad_route) std::rethrow_exception(bad_route);
    return all ? step_outcome::worked : this->blocked();
  }
  /// One side has nothing.
  step_outcome nothing(bool first_is_empty) noexcept {
    const bool a_sleeps = in_.sleep();
    const bool b_sleeps = other_.sleep();
    over_ = in_.ended() || other_.ended();
    return (first_is_empty ? a_sleeps : b_sleeps) && !over_ ? step_outcome::starved
                                                            : step_outcome::worked;
  }
  void leave() noexcept {
    in_.leave();
    other_.leave();
  }
  /// One side has ended: drops what the other still brings.
  step_outcome wind_down(turn& t) {
    if (!this->publish(t)) return this->blocked();
    this->drop(this->out_->close(t));
    leave();
    const std::size_t a = dropped(in_);
    const std::size_t b = dropped(other_);
    this->count_in(a + b);
    this->drop(a + b);
    this->out_of_loops(a);
    if (a + b != 0) return step_outcome::worked;
    const bool a_sleeps = in_.sleep();
    const bool b_sleeps = other_.sleep();
    const bool a_ended = in_.ended();
    const bool b_ended = other_.ended();
    if (a_ended && b_ended) return step_outcome::ended;
    return (a_sleeps || a_ended) && (b_sleeps || b_ended) ? step_outcome::starved
                                                          : step_outcome::worked;
  }
  template <class T>
  std::size_t dropped(inputs<T>& from) noexcept {
    const std::size_t n = from.next(this->batch()).size();
    if (n != 0) from.done(n);
    return n;
  }

  inputs<A> in_;
  inputs<B> other_;
  bool over_ = false;
};

// Each of these is instantiated only to fail.
template <class P, bool IsSource>
struct zip_beside_no_source {
  static constexpr bool reported = true;
  static_assert(IsSource,
                "garrick: zip<A>(source) pairs a stream with a source: this pattern takes tuples");
};
template <class P, bool PutsOut>
struct zip_beside_a_sink {
  static constexpr bool reported = true;
  static_assert(PutsOut,
                "garrick: zip<A>(source) pairs tuples with what the source puts out: this pattern "
                "ends in a sink");
};

template <class A, class F>
consteval auto check_zip() {
  if constexpr (!passes<stage_check<F>>) {
    return static_cast<stage_check<F>*>(nullptr);
  } else {
    using P = stage_of<F>;
    if constexpr (!std::is_void_v<typename P::input>)
      return static_cast<zip_beside_no_source<P, false>*>(nullptr);
    else if constexpr (std::is_void_v<typename P::output>)
      return static_cast<zip_beside_a_sink<P, false>*>(nullptr);
    else
      return static_cast<all_of<tuple_check<A>, run_check<P>>*>(nullptr);
  }
}

}  // namespace detail

/// A stream of A beside the source P.
template <class A, class P>
class zip_of {
  using B = typename P::output;

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own what they are made of
  static constexpr bool garrick_keeps_order = false;
  using input = A;                 ///< what it takes
  using output = std::pair<A, B>;  ///< what it puts out

  /// For the framework.
  explicit zip_of(P source) : source_(std::move(source)) {}

  /// What it looks like.
  [[nodiscard]] plan describe() const {
    return {.what = "zip", .emitter = false, .parts = {source_.describe()}};
  }

  /// For the framework.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    auto& n = b.to.add_node<detail::zip_node<A, B>>(b.node("zip"));
    n.to(next->connect(n));
    detail::builder beside = b.inside("zip.");
    beside.loops.clear();  // what the source puts out comes from no loop
    source_.build(beside, detail::inlet_of<B>(n, n.other(), b.options.capacity));
    return detail::inlet_of<A>(n, n.in(), b.options.capacity);
  }

 private:
  P source_;
};

/// Puts out std::pair(tuple, other) for each tuple, an A, and the next one that `source` puts out:
/// any composition that begins with a source. The shorter side ends it. Then the other side's
/// sources stop, and what is on its way is dropped and counted. In a farm, each replica has a
/// source of its own.
template <class A, class P>
[[nodiscard]] auto zip(P source) {
  using check = detail::check_of<decltype(detail::check_zip<A, P>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return zip_of<A, detail::stage_of<P>>(seq(std::move(source)));
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
