// The nodes of the shipped stages: one that reads, one that only puts out.
//
// A step takes a batch from one input and runs it through the stage. Then it hands on the results,
// and last it gives the tuples' slots back: a tuple is accounted for until its results are (L1).
//
// Private: installed because templates need it.
//
// Thread safety: as node.hpp.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/emit.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// The output of a stage that has none.
struct no_output {
  void begin_input() noexcept {}
  void take_back() noexcept {}
  void start() noexcept {}
  void stop() noexcept {}
  [[nodiscard]] std::size_t pending() const noexcept { return 0; }
  std::size_t publish(turn&) noexcept { return 0; }
  [[nodiscard]] bool is_blocked() const noexcept { return false; }
  [[nodiscard]] bool sleep() noexcept { return true; }
  std::size_t close(turn&) noexcept { return 0; }
  [[nodiscard]] std::size_t waiting() noexcept { return 0; }
  [[nodiscard]] bool is_unwanted() noexcept { return false; }
};
template <class Out>
struct output_of {
  using type = output<Out>;
};
template <>
struct output_of<void> {
  using type = no_output;
};
template <class Out>
using output_for = typename output_of<Out>::type;

/// Tells a stage whose running part wants to know in which graph it is.
template <class Stage>
void belong(Stage& s, graph& g) noexcept {
  if constexpr (requires { s.belongs_to(g); }) s.belongs_to(g);
}

/// The tuple in what a node takes; null: there is none.
template <class T>
[[nodiscard]] T* content_of(T& taken) noexcept {
  return &taken;
}

/// A copy of a tuple, for the dead letter if its `consume` throws after it has moved from it. None
/// if the tuple stays as it is, or cannot be copied.
template <class T>
class spare_tuple {
  static constexpr bool exists = base::copyable_message<T> && !std::is_trivially_copyable_v<T>;

 public:
  explicit spare_tuple(const T& of) {
    if constexpr (exists) copy_.emplace(of);
  }
  /// The copy, else what was left.
  [[nodiscard]] T& best(T& left) noexcept {
    if constexpr (exists) return *copy_;
    return left;
  }

 private:
  struct none {};
  [[no_unique_address]] std::conditional_t<exists, std::optional<T>, none> copy_;
};

/// What nodes with and without inputs share: the output, the start and the end.
template <class Stage, class Out>
class stage_node_base : public node {
 public:
  void to(std::unique_ptr<output_for<Out>> o) { out_ = std::move(o); }

 protected:
  stage_node_base(graph& of, const node_options& o, on_failure policy, Stage s)
      : node(of, o), stage_(std::move(s)), policy_(policy) {
    belong(stage_, of);
    if (policy_ == on_failure::restart) first_.emplace(stage_);
  }

  void start() {
    if (std::exchange(started_, true)) return;
    stage_.start();
    out_->start();
  }
  /// After the last input. What the stage puts out is in the loops from now on.
  void stop() {
    if (std::exchange(stopped_, true)) return;
    out_->begin_input();
    const std::size_t before = out_->pending();
    stage_.stop(*out_);
    out_->stop();
    into_loops(out_->pending() - before);
    settle(0);
  }
  /// Hands on what was put out. False: some of it has found no room.
  [[nodiscard]] bool publish(turn& t) {
    count_out(out_->publish(t));
    if (!out_->is_blocked()) return true;
    count_out(out_->publish(t));  // a consumer that ran in place may have made room
    return !out_->is_blocked();
  }
  /// Before the node sleeps for want of input: what is kept for the way back in a loop did not make
  /// it blocked, and has to find its room all the same. False: there is some now.
  [[nodiscard]] bool hands_on_kept(turn& t) {
    if (out_->pending() == 0) return true;
    static_cast<void>(publish(t));
    return out_->sleep();
  }
  [[nodiscard]] step_outcome blocked() noexcept {
    return out_->sleep() ? step_outcome::blocked : step_outcome::worked;
  }
  [[nodiscard]] step_outcome ended(turn& t) noexcept {
    drop(out_->close(t));
    return step_outcome::ended;
  }
  void abandon(turn& t) noexcept override {
    if constexpr (holding<Stage>) drop(stage_.held());
    drop(out_->close(t));
  }
  /// So many tuples were taken and their results published, but for those of what the stage holds.
  void settle(std::size_t n) noexcept {
    if constexpr (holding<Stage>) n += held_ - std::exchange(held_, stage_.held());
    out_of_loops(n);
  }
  /// The time of this step. True: the stage's time has come.
  [[nodiscard]] bool look_at_clock(turn& t) {
    now_ = t.on.now();
    if constexpr (requires { stage_.time_is(now_); }) stage_.time_is(now_);
    return stage_.deadline() <= now_;
  }
  /// Nothing is to be done until an input wakes the node, or until the stage's time comes.
  [[nodiscard]] step_outcome starved([[maybe_unused]] turn& t) {
    if constexpr (timed<Stage>) wake_at(stage_.deadline(), t);
    return step_outcome::starved;
  }

  /// A `consume` has thrown: what it put out is dropped.
  void count_lost() {
    out_->take_back();
    count_failure();
  }
  /// The same, and the stage goes on as its policy says. Rethrows what ends the stream.
  void failed() {
    count_lost();
    if (policy_ == on_failure::fail) throw;
    if (policy_ == on_failure::skip) return;
    if constexpr (requires { stage_.restart(); }) {
      stage_.restart();
    } else {
      Stage again(*first_);
      if constexpr (holding<Stage>) drop(stage_.held());
      std::destroy_at(&stage_);
      std::construct_at(&stage_, std::move(again));
      stage_.start();
    }
  }
  [[nodiscard]] on_failure policy() const noexcept { return policy_; }

  Stage stage_;
  std::unique_ptr<output_for<Out>> out_;
  bool stopped_ = false;
  instant now_{};  ///< of this step, if the stage has times

 private:
  bool started_ = false;
  const on_failure policy_;
  std::size_t held_ = 0;  ///< by the stage, when it was last looked at
  std::optional<Stage> first_;
};

/// A node that reads.
template <class Stage, class In, class Out>
class stage_node final : public stage_node_base<Stage, Out> {
  using base = stage_node_base<Stage, Out>;

 public:
  stage_node(graph& of, const node_options& o, on_failure policy, Stage s)
      : base(of, o, policy, std::move(s)) {}

  inputs<In>& in() noexcept { return in_; }
  std::size_t drop_inputs() noexcept override { return in_.drop(); }

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (out.is_blocked() && !this->publish(t)) return this->blocked();
    this->start();
    std::size_t most = this->batch();
    if constexpr (needs_a_node<Stage>) {
      if (const auto done = before_input(t, most)) return *done;
    } else if (out.is_unwanted()) {
      in_.leave();
    }
    const std::span<In> batch = in_.next(most);
    if (batch.empty()) return nothing(t);
    const std::size_t before = out.pending();
    std::size_t n = 0;
    try {
      if (this->policy() != on_failure::fail) {
        for (; n < batch.size() && !out.is_blocked(); ++n) consume_or_lose(batch[n]);
      } else {
        do {
          out.begin_input();
          this->stage_.consume(std::move(batch[n]), out);
          ++n;
        } while (n < batch.size() && !out.is_blocked());
      }
    } catch (...) {
      if (this->policy() == on_failure::fail) this->count_lost();
      dealt_with(n + 1, before, t);
      throw;
    }
    dealt_with(n, before, t);
    return out.is_blocked() ? this->blocked() : step_outcome::worked;
  }
  /// For a stage that goes on after a failure. Throws what ends the stream.
  void consume_or_lose(In& tuple) {
    auto& out = *this->out_;
    out.begin_input();
    spare_tuple<In> spare(tuple);
    try {
      this->stage_.consume(std::move(tuple), out);
    } catch (...) {
      if (auto* const content = content_of(spare.best(tuple)))
        this->dead_letter(std::move(*content), std::current_exception());
      this->failed();
    }
  }
  void dealt_with(std::size_t n, std::size_t before, turn& t) {
    auto& out = *this->out_;
    this->count_in(n);
    this->into_loops(out.pending() - before);
    static_cast<void>(this->publish(t));
    in_.done(n);
    this->settle(n);
  }
  /// What a stage with times, or with results that come piece by piece, does first in a step.
  /// Lowers `most` to what it takes. Nothing: it may take input now.
  std::optional<step_outcome> before_input(turn& t, std::size_t& most) {
    auto& out = *this->out_;
    if (out.is_unwanted()) {
      in_.leave();
      if constexpr (resumable<Stage>) give_up();
    }
    if constexpr (resumable<Stage>)
      if (this->stage_.under_way()) return more(t, [&] { this->stage_.go_on(out); });
    if constexpr (timed<Stage>)
      if (this->look_at_clock(t))
        if constexpr (requires { this->stage_.on_time(this->now_, out); })
          return more(t, [&] { this->stage_.on_time(this->now_, out); });
    if constexpr (ends_early<Stage>)
      if (this->stage_.has_enough()) return wind_down(t);
    if constexpr (paced<Stage>) {
      most = std::min(most, this->stage_.room());
      if (most == 0) return this->starved(t);
    }
    return std::nullopt;
  }
  /// Results that belong to no new tuple.
  template <class F>
  step_outcome more(turn& t, const F& put) {
    auto& out = *this->out_;
    const std::size_t before = out.pending();
    out.begin_input();
    try {
      put();
    } catch (...) {
      if constexpr (resumable<Stage>) this->count_partial();
      this->failed();
    }
    this->into_loops(out.pending() - before);
    const bool all = this->publish(t);
    this->settle(0);
    return all ? step_outcome::worked : this->blocked();
  }
  void give_up() noexcept {
    if (!this->stage_.under_way()) return;
    this->drop(1);
    this->stage_.give_up();
    this->settle(0);
  }
  /// The stage has enough: ends its output, tells those before it, and drops what still comes.
  step_outcome wind_down(turn& t) {
    this->stop();
    if (!this->publish(t)) return this->blocked();
    this->drop(this->out_->close(t));
    in_.leave();
    const std::size_t n = in_.next(this->batch()).size();
    if (n == 0) {
      if (in_.ended()) return step_outcome::ended;
      return in_.sleep() ? step_outcome::starved : step_outcome::worked;
    }
    in_.done(n);
    this->count_in(n);
    this->drop(n);
    this->out_of_loops(n);
    return step_outcome::worked;
  }
  step_outcome nothing(turn& t) {
    if (!in_.ended()) {
      if (!this->hands_on_kept(t)) return step_outcome::worked;
      return in_.sleep() ? this->starved(t) : step_outcome::worked;
    }
    this->stop();
    return this->publish(t) ? this->ended(t) : this->blocked();
  }

  inputs<In> in_;
};

/// A node that only puts out.
template <class Stage, class Out>
class source_node final : public stage_node_base<Stage, Out> {
  using base = stage_node_base<Stage, Out>;

 public:
  source_node(graph& of, const node_options& o, on_failure policy, Stage s)
      : base(of, o, policy, std::move(s)) {}

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (out.is_blocked() && !this->publish(t)) return this->blocked();
    this->start();
    if (out.is_unwanted()) this->stop();
    std::size_t most = this->batch();
    if constexpr (timed<Stage>) {
      if (!this->stopped_ && !this->look_at_clock(t)) return this->starved(t);
      most = 1;
    }
    std::size_t n = 0;
    try {
      for (; !this->stopped_ && n < most; ++n) {
        out.begin_input();
        if (!this->stage_.produce(out)) this->stop();
        if (out.is_blocked()) break;
      }
    } catch (...) { this->failed(); }
    this->count_made(n);
    if (!this->publish(t)) return this->blocked();
    return this->stopped_ ? this->ended(t) : step_outcome::worked;
  }
};

}  // namespace garrick::patterns::detail
