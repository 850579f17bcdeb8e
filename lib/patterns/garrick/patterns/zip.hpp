// Pairs the tuples of a stream with those of a source: the first with the first, and so on.
//
//   pipeline(lines_of(path), zip<slice>(counting(1L, 1L << 62)), …)     numbers the lines
//
// Only a source can be the other side. Two branches of one stream would stall as soon as one branch
// drops so many tuples that the channels of the other are full.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/pipeline.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Reads a tuple of each side at a time.
class zip_base : public reading_node {
 public:
  [[nodiscard]] inputs& other() noexcept { return other_; }
  std::size_t drop_inputs() noexcept override { return in_.drop() + other_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override {
    return in_.waiting() + other_.waiting();
  }

 protected:
  zip_base(graph& of, const node_options& o, const stage_type& type, const void* prototype,
           const tuple_type& a, const tuple_type& b)
      : reading_node(of, o, on_failure::fail, type, prototype, a), other_(b) {}
  /// Puts out at most `most` pairs, as there is room. Sets `n` to the number of pairs that were
  /// taken, even if it throws. Throws a policy's exception.
  virtual void pair(void* as, void* bs, std::size_t most, std::size_t& n) = 0;

 private:
  step_outcome step(turn& t) override;
  step_outcome nothing(bool first_is_empty) noexcept;
  void leave() noexcept;
  step_outcome wind_down(turn& t);
  std::size_t dropped(inputs& from) noexcept;

  inputs other_;
  bool over_ = false;
};
template <class A, class B>
class zip_node final : public zip_base {
 public:
  zip_node(graph& of, const node_options& o)
      : zip_base(of, o, forwards_type<std::pair<A, B>>, &hands_on, tuple_type_of<A>,
                 tuple_type_of<B>) {}

 private:
  void pair(void* as, void* bs, std::size_t most, std::size_t& n) override {
    while (n < most && !out_->is_blocked()) {
      out_->begin_input();
      const std::size_t i = n++;
      std::pair<A, B> both(std::move(static_cast<A*>(as)[i]), std::move(static_cast<B*>(bs)[i]));
      out_->put(both);
    }
  }

  static constexpr forwards<std::pair<A, B>> hands_on{};
};

template <class P, bool IsSource = false>
struct zip_beside_no_source : failed_check {
  static_assert(IsSource,
                "garrick: zip<A>(source) pairs a stream with a source: this pattern takes tuples");
};
template <class P, bool PutsOut = false>
struct zip_beside_a_sink : failed_check {
  static_assert(PutsOut,
                "garrick: zip<A>(source) pairs tuples with the source's tuples: this pattern "
                "ends in a sink");
};

template <class A, class F>
consteval auto check_zip() {
  if constexpr (!passes<stage_check<F>>) {
    return verdict<stage_check<F>>;
  } else {
    using P = stage_of<F>;
    if constexpr (!std::is_void_v<typename P::input>)
      return verdict<zip_beside_no_source<P>>;
    else if constexpr (std::is_void_v<typename P::output>)
      return verdict<zip_beside_a_sink<P>>;
    else
      return verdict<first_failure<tuple_check<A>, run_check<P>>>;
  }
}

}  // namespace detail

/// A stream of A beside the source P.
template <class A, class P>
class zip_of {
  using B = typename P::output;

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = A;                 ///< the type of its tuples
  using output = std::pair<A, B>;  ///< the type of its results

  /// For the framework: makes a stage of its source.
  explicit zip_of(P source) : source_(std::move(source)) {}

  /// Returns the pattern's structure.
  [[nodiscard]] plan describe() const {
    return {.what = "zip", .emitter = false, .parts = {source_.describe()}};
  }

  /// For the framework: adds the nodes of the stage and of its source.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    auto& n = b.to.add_node<detail::zip_node<A, B>>(b.node("zip"));
    n.to(next->connect(n));
    detail::builder beside = b.inside("zip.");
    beside.loops.clear();  // the source's results come from no loop
    source_.build(beside, detail::inlet_of(n, n.other(), b.options.capacity));
    return detail::inlet_of(n, n.in(), b.options.capacity);
  }

 private:
  P source_;
};

/// Returns a stage that puts out std::pair(tuple, other) for each tuple, an A, and the next result
/// of `source`: any composition that begins with a source. The stage ends with the shorter side.
/// Then the other side's sources stop, and tuples on their way are dropped and counted. In a farm,
/// each replica has a source of its own.
template <class A = void, class P>
[[nodiscard]] auto zip(P source) {
  using check = detail::first_failure<detail::told_type_check<A>,
                                      detail::check_of<decltype(detail::check_zip<A, P>())>>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return zip_of<A, detail::stage_of<P>>(seq(std::move(source)));
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
