// A pattern whose results may go through it again.
//
//   feedback(halve, [](const number& n) { return n.value > 1; })
//
// A result goes back to the pattern's entrance if the function returns true for it, and otherwise
// on to the next stage. A loop has as many credits as a channel has room, and new tuples come in
// only while there are credits. So a loop whose stages put out one result for each tuple cannot
// fill up and stall. A loop that makes several results of one tuple keeps the results without room,
// so its memory grows with their number. The loop ends when nothing comes from outside and nothing
// is on its way.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/pipeline.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

/// The end of a loop: results go back to its entrance, or on to the next stage.
class loop_end : public output {
 public:
  loop_end(loop& l, std::unique_ptr<output> on);

  /// Sets the way back, when the entrance is built.
  void back_to(std::unique_ptr<output> back) { back_ = std::move(back); }

  void take_back() noexcept override;
  [[nodiscard]] std::size_t pending() const noexcept override;
  std::size_t publish(turn& t) override;
  [[nodiscard]] bool sleep() noexcept override;
  std::size_t close(turn& t) noexcept override;
  [[nodiscard]] std::size_t waiting() noexcept override;
  [[nodiscard]] bool is_unwanted() noexcept override;

 protected:
  void next_result() noexcept {
    if (std::exchange(fresh_, false)) {
      on_->begin_input();
      back_->begin_input();
    }
  }

  loop& loop_;
  std::unique_ptr<output> on_;
  std::unique_ptr<output> back_;

 private:
  std::size_t gone_ = 0;  ///< this many tuples in `on_` are counted out of the loop
};
template <class T, class Again>
class loop_output final : public loop_end {
 public:
  loop_output(loop& l, Again again, std::unique_ptr<output> on)
      : loop_end(l, std::move(on)), again_(std::move(again)) {}

 private:
  void put_elsewhere(void* at) override {
    T& value = *static_cast<T*>(at);
    next_result();
    const bool again = !loop_.is_over() && called(again_)(std::as_const(value));
    (again ? back_ : on_)->put(value);
    blocked_ = on_->is_blocked();
  }

  [[no_unique_address]] Again again_;
};

class loop_inlet : public inlet {
 public:
  loop_inlet(loop& l, any_inlet_ptr on, std::vector<std::unique_ptr<loose_end>>& loose_ends);
  std::unique_ptr<output> connect(node& producer, const loop* back_edge) override;
  /// Sets the destination of the way back.
  void enters(any_inlet_ptr entrance) { *entrance_ = std::move(entrance); }

 protected:
  [[nodiscard]] virtual std::unique_ptr<loop_end> end_of(loop& l,
                                                         std::unique_ptr<output> on) const = 0;

 private:
  loop& loop_;
  any_inlet_ptr on_;
  std::vector<std::unique_ptr<loose_end>>& loose_ends_;
  std::shared_ptr<any_inlet_ptr> entrance_;
};
template <class T, class Again>
class loop_inlet_by final : public loop_inlet {
 public:
  loop_inlet_by(loop& l, Again again, any_inlet_ptr on,
                std::vector<std::unique_ptr<loose_end>>& loose_ends)
      : loop_inlet(l, std::move(on), loose_ends), again_(std::move(again)) {}

 private:
  std::unique_ptr<loop_end> end_of(loop& l, std::unique_ptr<output> on) const override {
    return std::unique_ptr<loop_end>(new loop_output<T, Again>(l, again_, std::move(on)));
  }

  Again again_;
};

/// The node that lets tuples in from outside, while there are credits. Its stage is `forwards`.
class gate_node final : public reading_node {
 public:
  gate_node(graph& of, const node_options& o, const stage_type& type, const void* prototype,
            const tuple_type& takes, loop& l);

 private:
  step_outcome step(turn& t) override;
  step_outcome nothing(turn& t);

  loop& loop_;
};
/// Returns the entrance of a loop for tuples from outside. `entrance` is that of the pattern.
[[nodiscard]] any_inlet_ptr gate_of_loop(const builder& b, loop& l, loop_inlet& end,
                                         const any_inlet_ptr& entrance, const stage_type& type,
                                         const void* prototype, const tuple_type& takes);

template <class Takes, class PutsOut>
struct feedback_types_differ : failed_check {
  static_assert(std::is_same_v<Takes, PutsOut> && !std::is_void_v<Takes>,
                "garrick: feedback_types_differ<A, B>: feedback's pattern takes A and puts out B, "
                "so its results cannot go through it again (void: it is a source, or a sink)");
};
template <class F, class Tuple, bool Fits = false>
struct feedback_condition_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: feedback(pattern, again) takes a function `bool again(const Tuple&)`");
};

template <class F, class Again>
consteval auto check_feedback() {
  if constexpr (!passes<stage_check<F>>) {
    return verdict<stage_check<F>>;
  } else {
    using P = stage_of<F>;
    using In = typename P::input;
    using Out = typename P::output;
    if constexpr (std::is_void_v<In> || !std::is_same_v<In, Out>)
      return verdict<feedback_types_differ<In, Out>>;
    else if constexpr (!std::is_invocable_r_v<bool, callee<Again>, const Out&>)
      return verdict<feedback_condition_does_not_fit<Again, Out>>;
    else
      return verdict<first_failure<run_check<P>, part_check<Again>>>;
  }
}

}  // namespace detail

/// A pattern whose results may go through it again.
template <class P, class Again>
class feedback_of {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = typename P::input;    ///< the type of its tuples
  using output = typename P::output;  ///< the type of its results: the same

  /// For the framework: makes a loop of its parts.
  feedback_of(P pattern, Again again) : pattern_(std::move(pattern)), again_(std::move(again)) {}

  /// Returns the pattern's structure.
  [[nodiscard]] plan describe() const {
    return {.what = "feedback", .emitter = false, .parts = {pattern_.describe()}};
  }

  /// For the framework: adds the nodes of the loop.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    detail::loop& l = b.to.add_loop(b.options.capacity);
    detail::builder within = b;
    within.loops.push_back(&l);
    const auto end = base::shared_as<detail::loop_inlet>(
        new detail::loop_inlet_by<input, Again>(l, again_, next, *b.loose_ends));
    const detail::forwards<input> stage;
    return detail::gate_of_loop(b, l, *end, pattern_.build(within, end),
                                detail::forwards_type<input>, &stage, detail::tuple_type_of<input>);
  }

 private:
  P pattern_;
  Again again_;
};

/// Returns a pattern whose results go through it again while `again(result)` is true, and then on
/// to the next stage. `again` has no captures (otherwise pass lent(f)).
template <class P = detail::several_functions, class Again = detail::several_functions>
[[nodiscard]] auto feedback(P pattern, Again again) {
  using check = detail::check_of<decltype(detail::check_feedback<P, Again>()), Again>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return feedback_of<detail::stage_of<P>, Again>(seq(std::move(pattern)), std::move(again));
  else
    return detail::refused_pattern();
}

/// This overload refuses a loop without a condition.
template <class Call = void>
[[nodiscard]] detail::refused_pattern feedback(detail::anything /*pattern*/) {
  static_assert(detail::is_right_call<Call>,
                "garrick: feedback(pattern, again) takes a pattern and a function `bool "
                "again(const Tuple&)`, which chooses the tuples that go through it once more");
  return {};
}

}  // namespace garrick::patterns
