// A pattern whose results may go through it again.
//
//   feedback(halve, [](const number& n) { return n.value > 1; })
//
// What the pattern puts out goes back to its entrance while the function says so, and else on to
// the next stage. New tuples come in only while there are credits, no more than a channel has room
// for, so a loop whose stages put out one result for each tuple cannot fill up and stand still. One
// that makes several of one tuple keeps what has no room, and so grows as much as it multiplies.
// The loop ends when nothing comes from outside and nothing is on its way.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/pipeline.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

/// The end of a loop: back, or on.
template <class T, class Again>
class loop_output final : public output<T> {
 public:
  loop_output(loop& l, Again again, std::unique_ptr<output<T>> on)
      : loop_(l), again_(std::move(again)), on_(std::move(on)) {}

  /// The way back, when the entrance is built.
  void back_to(std::unique_ptr<output<T>> back) { back_ = std::move(back); }

  void take_back() noexcept override {
    if (this->fresh_) return;
    on_->take_back();
    back_->take_back();
    this->blocked_ = on_->is_blocked();
  }
  [[nodiscard]] std::size_t pending() const noexcept override {
    return on_->pending() + back_->pending();
  }
  std::size_t publish(turn& t) override {
    // what goes on has left the loop, also while it finds no room: in a loop around this one its
    // room may come only when this one's gate opens
    const std::size_t going = on_->pending();
    if (going != gone_) loop_.remove(going - gone_);
    const std::size_t left = going == 0 ? 0 : on_->publish(t);
    gone_ = on_->pending();
    this->blocked_ = on_->is_blocked();
    return left + (back_->pending() == 0 ? 0 : back_->publish(t));
  }
  [[nodiscard]] bool sleep() noexcept override {
    const bool on_sleeps = on_->sleep();
    return back_->sleep() && on_sleeps;
  }
  std::size_t close(turn& t) noexcept override { return on_->close(t) + back_->close(t); }
  [[nodiscard]] std::size_t waiting() noexcept override { return on_->waiting(); }
  [[nodiscard]] bool is_unwanted() noexcept override { return on_->is_unwanted(); }

 private:
  void put_elsewhere(T&& value) override {
    if (std::exchange(this->fresh_, false)) {
      on_->begin_input();
      back_->begin_input();
    }
    const bool again = !loop_.is_over() && called(again_)(std::as_const(value));
    (again ? back_ : on_)->put(std::move(value));
    this->blocked_ = on_->is_blocked();
  }

  loop& loop_;
  [[no_unique_address]] Again again_;
  std::unique_ptr<output<T>> on_;
  std::unique_ptr<output<T>> back_;
  std::size_t gone_ = 0;  ///< of what `on_` keeps: counted out of the loop before
};

template <class T, class Again>
class loop_inlet final : public inlet<T> {
 public:
  loop_inlet(loop& l, Again again, inlet_ptr<T> on,
             std::vector<std::unique_ptr<loose_end>>& loose_ends)
      : loop_(l), again_(std::move(again)), on_(std::move(on)), loose_ends_(loose_ends) {}
  std::unique_ptr<output<T>> connect(node& producer, const loop* back_edge) override {
    auto made =
        std::make_unique<loop_output<T, Again>>(loop_, again_, on_->connect(producer, back_edge));
    loose_ends_.push_back(std::make_unique<way_back>(*made, producer, entrance_, loop_));
    return made;
  }
  /// Where the way back leads.
  void enters(inlet_ptr<T> entrance) { *entrance_ = std::move(entrance); }

 private:
  class way_back final : public loose_end {
   public:
    way_back(loop_output<T, Again>& end, node& producer, std::shared_ptr<inlet_ptr<T>> entrance,
             loop& l)
        : end_(end), producer_(producer), entrance_(std::move(entrance)), loop_(l) {}
    void connect() override { end_.back_to((*entrance_)->connect(producer_, &loop_)); }

   private:
    loop_output<T, Again>& end_;
    node& producer_;
    std::shared_ptr<inlet_ptr<T>> entrance_;
    loop& loop_;
  };

  loop& loop_;
  Again again_;
  inlet_ptr<T> on_;
  std::vector<std::unique_ptr<loose_end>>& loose_ends_;
  std::shared_ptr<inlet_ptr<T>> entrance_ = std::make_shared<inlet_ptr<T>>();
};

/// The way in from outside, while there are credits.
template <class T>
class gate_node final : public stage_node_base<forwards<T>, T> {
  using base = stage_node_base<forwards<T>, T>;

 public:
  gate_node(graph& of, const node_options& o, loop& l)
      : base(of, o, on_failure::fail, forwards<T>()), loop_(l) {
    l.gated_by(*this);
  }

  inputs<T>& in() noexcept { return in_; }
  std::size_t drop_inputs() noexcept override { return in_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return in_.waiting(); }

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (!this->catches_up(t)) return this->blocked();
    this->start();
    if (out.is_unwanted()) in_.leave();
    const std::size_t credits = loop_.credits();
    if (credits == 0) {
      loop_.gate_sleeps();
      return loop_.has_enough_credits() ? step_outcome::worked : step_outcome::blocked;
    }
    const std::span<T> batch = in_.next(std::min(credits, this->batch()));
    if (batch.empty()) return nothing(t);
    const std::size_t before = out.pending();
    std::size_t n = 0;
    std::exception_ptr bad_route;
    try {
      while (n < batch.size()) {
        out.begin_input();
        out.put(std::move(batch[n++]));
      }
    } catch (...) {
      bad_route = std::current_exception();
      out.take_back();
      this->count_failure();
    }
    this->count_in(n);
    const std::size_t put = out.pending() - before;  // more than n if each goes to several
    this->into_loops(put);
    loop_.add(put);
    const bool all = this->publish(t);
    in_.done(n);
    this->out_of_loops(n);
    if (bad_route) std::rethrow_exception(bad_route);
    return all ? step_outcome::worked : this->blocked();
  }
  step_outcome nothing(turn& t) {
    if (!in_.ended()) return in_.sleep() ? step_outcome::starved : step_outcome::worked;
    loop_.gate_sleeps();
    if (!loop_.is_empty()) return step_outcome::starved;
    loop_.end();
    this->stop();
    return this->ended(t);
  }

  inputs<T> in_;
  loop& loop_;
};

// Each of these is instantiated only to fail.
template <class Takes, class PutsOut>
struct feedback_types_differ {
  static constexpr bool reported = true;
  static_assert(std::is_same_v<Takes, PutsOut> && !std::is_void_v<Takes>,
                "garrick: feedback_types_differ<A, B>: feedback's pattern takes A and puts out B, "
                "so its results cannot go through it again (void: it is a source, or a sink)");
};
template <class F, class Tuple, bool Fits>
struct feedback_condition_does_not_fit {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: feedback(pattern, again) takes a function `bool again(const Tuple&)`");
};

template <class F, class Again>
consteval auto check_feedback() {
  if constexpr (!passes<stage_check<F>>) {
    return static_cast<stage_check<F>*>(nullptr);
  } else {
    using P = stage_of<F>;
    using In = typename P::input;
    using Out = typename P::output;
    if constexpr (std::is_void_v<In> || !std::is_same_v<In, Out>)
      return static_cast<feedback_types_differ<In, Out>*>(nullptr);
    else if constexpr (!std::is_invocable_r_v<bool, callee<Again>, const Out&>)
      return static_cast<feedback_condition_does_not_fit<Again, Out, false>*>(nullptr);
    else
      return static_cast<all_of<run_check<P>, part_check<Again>>*>(nullptr);
  }
}

}  // namespace detail

/// A pattern whose results may go through it again.
template <class P, class Again>
class feedback_of {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own what they are made of
  static constexpr bool garrick_keeps_order = false;
  using input = typename P::input;    ///< what it takes
  using output = typename P::output;  ///< what it puts out: the same

  /// For the framework.
  feedback_of(P pattern, Again again) : pattern_(std::move(pattern)), again_(std::move(again)) {}

  /// What it looks like.
  [[nodiscard]] plan describe() const {
    return {.what = "feedback", .emitter = false, .parts = {pattern_.describe()}};
  }

  /// For the framework.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    detail::loop& l = b.to.add_loop(b.options.capacity);
    detail::builder within = b;
    within.loops.push_back(&l);
    auto* const made = new detail::loop_inlet<input, Again>(l, again_, next, *b.loose_ends);
    const auto end = base::shared_as<detail::inlet<input>>(made);
    const detail::inlet_ptr<input> entrance = pattern_.build(within, end);
    made->enters(entrance);
    auto& gate = b.to.add_node<detail::gate_node<input>>(b.node("gate"), l);
    gate.to(entrance->connect(gate));
    return detail::inlet_of<input>(gate, gate.in(), b.options.capacity);
  }

 private:
  P pattern_;
  Again again_;
};

/// A pattern whose results go through it again while `again(result)` is true, and then on. `again`
/// has no captures (else say lent(f)).
template <class P, class Again>
[[nodiscard]] auto feedback(P pattern, Again again) {
  using check = detail::check_of<decltype(detail::check_feedback<P, Again>()), Again>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return feedback_of<detail::stage_of<P>, Again>(seq(std::move(pattern)), std::move(again));
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
