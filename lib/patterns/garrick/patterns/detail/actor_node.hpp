// The node of a stage that is an actor. The user's actor runs it: the node's `go` comes there, so
// everything, the user's code included, happens on that actor's turns. Once the actor has ended,
// the node's carrier closes the output.
//
// Private: installed because templates need it.
//
// Thread safety: as node.hpp. What `actor_output` has belongs to the actor's turns; `release` is
// for any thread.
//
// Invariants
// A1 Until the actor ends, only its turns touch the output: `put` does so without the run right.
// A2 A hold is in the node's loops as a tuple is: counted before the tuple that it is for is
//    settled, and until what was put out under it is.
// A3 Until the actor is there, the run right is taken, so nobody sends it a `go` too early.
// A4 The node ends only when it has no holds. Whoever drops one wakes the node.
// A5 What is held when the stream or the actor ends early is counted as dropped, once, on the
//    actor's turn if there is one. What comes of it later is not counted again.
#pragma once

#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/detail/stage_node.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/node/borrowed_turns.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// What has holds.
class held_open : public node {
 public:
  using node::node;
  /// One more hold.
  void hold() noexcept {
    into_loops(1);
    holds_.fetch_add(1, std::memory_order_relaxed);  // order: relaxed; on the actor's turn
  }
  /// One less. Any thread.
  void release() noexcept {
    out_of_loops(1);
    holds_.fetch_sub(1, std::memory_order_relaxed);  // order: relaxed; `wake` orders it
    wake(nullptr, 0);
  }
  [[nodiscard]] std::size_t holds() const noexcept {
    return holds_.load(std::memory_order_relaxed);  // order: relaxed; `wake` orders it
  }

 private:
  std::atomic<std::size_t> holds_{0};
};

/// What an actor has of its node.
template <class Out>
class actor_output : public held_open {
 public:
  using held_open::held_open;
  void to(std::unique_ptr<output> o) { out_ = std::move(o); }

  /// Puts a result out. In a step it is handed on with the others, and what is thrown is the
  /// failure of the tuple that is consumed. Else it is handed on at once; if that throws, the
  /// result has failed as a tuple does.
  template <class T>
  void put(T&& value, actor_base& on) {
    put_or(std::move(value), on,
           [&](const std::exception_ptr& why) { tuple_failed(std::move(value), why); });
  }
  /// The same, but `failed(why)` says what has failed if that throws outside of a step.
  template <class T, class F>
  void put_or(T&& value, actor_base& on, const F& failed) {
    if (is_over()) return drop(is_dropped() ? 0 : 1);
    if (in_step_) return out_->put(value);
    by_itself([&] { out_->put(value); }, failed, on);
  }
  /// As `put`, if fewer than `limit` tuples wait where it goes. False: as many do.
  template <class T>
  [[nodiscard]] bool try_put(std::size_t limit, T& value, actor_base& on) {
    if (is_over()) return drop(is_dropped() ? 0 : 1), true;
    if (in_step_) return out_->try_put(limit, &value);
    bool done = true;
    by_itself([&] { done = out_->try_put(limit, &value); },
              [&](const std::exception_ptr& why) { tuple_failed(std::move(value), why); }, on);
    return done;
  }
  void hold_at_most(std::size_t n) noexcept { most_holds_ = n; }
  /// The present handler of the actor is its last.
  void quits() noexcept { quitting_ = true; }
  [[nodiscard]] virtual on_failure policy() const noexcept = 0;
  /// A tuple that the actor has taken before has failed.
  template <class T>
  void tuple_failed(T&& tuple, const std::exception_ptr& why) {
    if (is_dropped()) return;
    count_failure();
    if (policy() == on_failure::fail) return owner_.cancel(why_it_failed(why));
    if (auto* const content = content_of(tuple)) dead_letter(std::move(*content), why);
  }
  template <class T>
  void tuple_failed(T&& tuple, const error& why) {
    tuple_failed(std::move(tuple), std::make_exception_ptr(std::runtime_error(why.to_string())));
  }

 protected:
  actor_output(graph& of, const node_options& o) : held_open(of, o), owner_(of) {}
  /// Nothing is put out any more.
  [[nodiscard]] bool is_over() const noexcept { return closed_ || held_was_dropped_; }
  /// What the actor deals with now was counted as dropped: the stream ended early under its hold.
  [[nodiscard]] bool is_dropped() const noexcept { return is_over() && holds() != 0; }
  /// The stream or the actor ends early: what is held leads nowhere.
  void drop_held() noexcept {
    if (!std::exchange(held_was_dropped_, true)) drop(holds());
  }

  /// What `f` puts out outside of a step is handed on at once. `failed` hears what it throws.
  template <class F, class Failed>
  void by_itself(const F& f, const Failed& failed, actor_base& on) {
    turn t{.on = on, .own_thread = own_thread()};
    const std::size_t before = out_->pending();
    out_->begin_input();
    try {
      f();
    } catch (...) {  // of a key function, say
      out_->take_back();
      return failed(std::current_exception());
    }
    into_loops(out_->pending() - before);
    count_out(out_->publish(t));
    // what is kept for the way back in a loop does not block, and has to find its room all the same
    if (out_->pending() != 0 && !out_->sleep()) count_out(out_->publish(t));
  }

  graph& owner_;
  std::unique_ptr<output> out_;
  std::size_t most_holds_ = 1024;
  bool in_step_ = false;
  bool quitting_ = false;
  bool closed_ = false;
  bool held_was_dropped_ = false;
};

/// An actor that says itself which tuples have failed, and of those that it has taken keeps what it
/// needs for that. So the node keeps no copy of them.
template <class A>
concept says_what_failed = requires { typename A::garrick_says_what_failed; };

/// What the actor of a stage is made with, beside the user's arguments.
template <class Node>
struct stage_seat {
  using garrick_sendable = void;
  std::shared_ptr<graph> owner;
  Node* at;
};

template <class A, class... Args>
class actor_node;

/// The user's actor, with the turns of its node.
template <class A, class... Args>
class seated_actor final : public A {
  using node_type = actor_node<A, Args...>;

 public:
  explicit seated_actor(stage_seat<node_type> seat, core::detail::kept<Args>... args)
      : A(std::forward<core::detail::kept<Args>>(args)...), seat_(std::move(seat)) {
    this->sit(*seat_.at, seat_.owner);
    seat_.at->carried_out_by(*this);
  }

  using A::on;
  void on(go) {
    if (seat_.at->take_go()) seat_.at->run(*this, nullptr);
  }
  void on(leave) { this->quit(); }
  void on_exit(const exit_reason& why) {
    seat_.at->actor_ends(why);              // before the class's own drops its holds
    const last_words here{*seat_.at, why};  // whatever the class's own may throw
    if constexpr (requires { static_cast<A&>(*this).on_exit(why); })
      static_cast<A&>(*this).on_exit(why);
  }

 private:
  struct last_words {
    node_type& to;
    const exit_reason& why;
    ~last_words() { to.actor_ended(why); }
  };
  stage_seat<node_type> seat_;
};

/// The node.
template <class A, class... Args>
class actor_node final : public actor_output<typename A::stage_output> {
  using In = typename A::stage_input;
  using Out = typename A::stage_output;
  using base = actor_output<Out>;
  using seated = seated_actor<A, Args...>;

 public:
  actor_node(graph& of, const node_options& o, on_failure policy, std::tuple<Args...> args)
      : base(of, o), policy_(policy), args_(std::move(args)) {
    this->not_yet();
  }

  inputs& in() noexcept { return in_; }
  std::size_t drop_inputs() noexcept override { return in_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return in_.waiting(); }
  [[nodiscard]] on_failure policy() const noexcept override { return policy_; }

  /// Makes the actor. If that fails, so does the stream.
  void begin(actor_base& from, const std::shared_ptr<graph>& owner) override {
    spawn_options o;
    o.name = this->name();
    o.detached = this->own_thread();
    error why;
    try {
      auto made = std::apply(
          [&](const Args&... args) {
            return from.template try_spawn<seated>(o, stage_seat<actor_node>{owner, this},
                                                   Args(args)...);
          },
          args_);
      if (made) {
        actor_ = *std::move(made);
        return schedule();
      }
      why = make_error(errc::receiver_failed, this->name(), made.error().to_string());
    } catch (...) { why = this->why_it_failed(std::current_exception()); }  // of a copy, say
    // An actor whose on_start has thrown is gone, and `actor_ends` has counted it.
    if (!std::exchange(gone_, true)) this->count_failure();
    this->owner_.cancel(std::move(why));
    static_cast<void>(turns_.end());
    node::schedule();
  }
  /// Helps the actor, too. On a turn of the one that has called `begin`.
  bool help() noexcept override {
    return !this->own_thread() && ((actor_ && run_in_place(actor_)) || base::help());
  }
  /// The actor that was made.
  void carried_out_by(A& who) noexcept { object_ = &who; }
  /// A `go` has come to the actor: does the run right come with it?
  [[nodiscard]] bool take_go() noexcept { return turns_.take(); }
  /// It is at its end, and holds what it held.
  void actor_ends(const exit_reason& why) noexcept {
    if (this->closed_) return;
    if (why == exit_code::unhandled_exception) this->count_failure();
    this->drop_held();
  }
  /// It touches nothing any more.
  void actor_ended(const exit_reason& why) noexcept {
    gone_ = true;
    if (!this->closed_)
      this->owner_.cancel(make_error(
          errc::receiver_failed, this->name(),
          why.is_normal() ? "the stage's actor has ended before its input" : why.to_string()));
    if (turns_.end()) return node::schedule();
    this->wake(nullptr, 0);
  }

 private:
  void schedule() noexcept override {
    try {
      const bool lent = turns_.lend([&] { send(actor_, go{}); });
      if (!lent) node::schedule();
    } catch (...) { std::terminate(); }
  }
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (this->quitting_) return step_outcome::starved;  // until `actor_ended`
    if (!catches_up(t)) return blocked();
    if (out.is_unwanted()) in_.leave();
    if (this->holds() >= this->most_holds_)
      return hands_on_kept(t) ? step_outcome::starved : step_outcome::worked;
    const std::span<In> batch =
        in_.next_as<In>(std::min(this->batch(), this->most_holds_ - this->holds()));
    if (batch.empty()) return nothing(t);
    const std::size_t before = out.pending();
    std::size_t n = 0;
    const in_a_step here(*this);
    while (n < batch.size() && !out.is_blocked() && this->holds() < this->most_holds_ &&
           !this->quitting_ && !this->is_cancelled()) {
      out.begin_input();
      [[maybe_unused]] std::optional<spare_tuple> spare;
      try {
        if constexpr (!says_what_failed<A>)
          if (policy_ != on_failure::fail) spare.emplace(tuple_type_of<In>, &batch[n]);
        object_->consume(std::move(batch[n]));
      } catch (...) {
        out.take_back();
        this->count_failure();
        if (policy_ == on_failure::fail) {
          dealt_with(batch.first(n + 1), before, t);
          throw;
        }
        tuple_type_of<In>.dead(*this, spare ? spare->best(&batch[n]) : &batch[n],
                               std::current_exception());
        if (policy_ == on_failure::restart)
          if constexpr (requires { object_->on_restart(); }) object_->on_restart();
      }
      ++n;
    }
    dealt_with(batch.first(n), before, t);
    return out.is_blocked() ? blocked() : step_outcome::worked;
  }
  void dealt_with(std::span<In> some, std::size_t before, turn& t) {
    this->count_in(tuple_type_of<In>.tuples_among(some.data(), some.size()), some.size());
    this->into_loops(this->out_->pending() - before);
    static_cast<void>(publish(t));
    in_.done(some.size());
    this->out_of_loops(some.size());
  }
  /// No input has anything.
  step_outcome nothing(turn& t) {
    if (!hands_on_kept(t)) return step_outcome::worked;
    if (!in_.ended()) return in_.sleep() ? step_outcome::starved : step_outcome::worked;
    if (this->holds() != 0) return step_outcome::starved;
    if (!std::exchange(stopped_, true)) {
      if constexpr (requires { object_->on_stop(); }) {
        const in_a_step here(*this);
        const std::size_t before = this->out_->pending();
        this->out_->begin_input();
        try {
          object_->on_stop();
        } catch (...) {
          this->count_failure();
          throw;
        }
        this->into_loops(this->out_->pending() - before);
      }
    }
    if (!publish(t)) return blocked();
    if (this->holds() != 0)  // of on_stop
      return hands_on_kept(t) ? step_outcome::starved : step_outcome::worked;
    if (this->out_->pending() != 0) return blocked();
    close(t);
    return step_outcome::ended;
  }
  void abandon(turn& t) noexcept override {
    this->drop_held();
    close(t);
  }
  void close(turn& t) noexcept {
    this->drop(this->out_->close(t));
    this->closed_ = true;
    if (!gone_ && actor_) send(actor_, leave{});
  }
  [[nodiscard]] bool publish(turn& t) {
    this->count_out(this->out_->publish(t));
    if (!this->out_->is_blocked()) return true;
    this->count_out(this->out_->publish(t));
    return !this->out_->is_blocked();
  }
  /// As those of stage_node_base.
  [[nodiscard]] bool catches_up(turn& t) {
    if (!this->out_->is_blocked()) return true;
    if (!publish(t)) return false;
    t.nested_until = instant::never();
    return true;
  }
  [[nodiscard]] bool hands_on_kept(turn& t) {
    if (this->out_->pending() == 0) return true;
    static_cast<void>(publish(t));
    return this->out_->sleep();
  }
  [[nodiscard]] step_outcome blocked() noexcept {
    return this->out_->sleep() ? step_outcome::blocked : step_outcome::worked;
  }

  /// While the user's code runs inside a step.
  class in_a_step {
   public:
    explicit in_a_step(actor_node& n) noexcept : n_(n) { n.in_step_ = true; }
    ~in_a_step() { n_.in_step_ = false; }
    in_a_step(const in_a_step&) = delete;
    in_a_step& operator=(const in_a_step&) = delete;

   private:
    actor_node& n_;
  };

  inputs in_{tuple_type_of<In>};
  const on_failure policy_;
  const std::tuple<Args...> args_;
  A* object_ = nullptr;
  ref<typename A::protocol_type> actor_;  ///< written by `begin` alone
  borrowed_turns turns_;
  bool gone_ = false;
  bool stopped_ = false;
};

}  // namespace garrick::patterns::detail
