// The node of a stage that is an actor. The user's actor runs the node: the node's `go` is sent to
// that actor, so everything, the user's code included, happens on that actor's turns. Once the
// actor has ended, the node's carrier closes the output.
//
// Private: installed because templates need it.
//
// Thread safety: as in node.hpp. The output and the flags belong to the actor's turns; `release`
// is for any thread.
//
// Invariants
// A1 Until the actor ends, only its turns touch the output: `put` needs no run right.
// A2 A hold counts in the node's loops as a tuple does: from before its tuple is settled until the
//    results put out under the hold are counted.
// A3 Until the actor exists, the run right is taken, so no thread sends it a `go` too early.
// A4 The node ends only when it has no holds. A thread that drops a hold wakes the node.
// A5 When the stream or the actor ends early, held tuples are counted as dropped, once, on the
//    actor's turn if there is one. Their later results are not counted again.
#pragma once

#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/stage_node.hpp>
#include <garrick/patterns/detail/stage_type.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/node/borrowed_turns.hpp>
#include <garrick/patterns/node/graph.hpp>
#include <garrick/patterns/plan.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace garrick::patterns::detail {

class actor_maker;

/// A node that stays open while it has holds.
class held_open : public putting_node {
 public:
  using putting_node::putting_node;
  /// Adds a hold.
  void hold() noexcept {
    into_loops(1);
    holds_.fetch_add(1, std::memory_order_relaxed);  // order: relaxed; on the actor's turn
  }
  /// Drops a hold. Any thread.
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

/// The node. Only its maker knows the actor's class.
class actor_node final : public held_open {
 public:
  actor_node(graph& of, const node_options& o, on_failure policy,
             std::shared_ptr<const actor_maker> maker);
  ~actor_node() override;
  inputs& in() noexcept { return in_; }

  // ---- for the stage's actor

  /// Puts a result out. In a step the result is handed on with the step's other results, and an
  /// exception is the failure of the tuple that is consumed. Outside of a step it is handed on at
  /// once; if that throws, the result is treated as a failed tuple.
  template <class T>
  void put(T& value, actor_base& on) {
    put_or(value, on, [&](const std::exception_ptr& why) { tuple_failed(value, why); });
  }
  /// The same, but if `put` throws outside of a step, the exception goes to `failed(why)`.
  template <class T, class F>
  void put_or(T& value, actor_base& on, const F& failed) {
    if (in_step_ && !is_over()) return out_->put(value);
    if (const std::exception_ptr why = put_by_itself(&value, tuple_type_of<T>, on)) failed(why);
  }
  /// Like `put`, if fewer than `limit` tuples wait in the channel to the next stage. Otherwise
  /// returns false.
  template <class T>
  [[nodiscard]] bool try_put(std::size_t limit, T& value, actor_base& on) {
    if (in_step_ && !is_over()) return out_->try_put(limit, &value);
    bool done = true;
    if (const std::exception_ptr why = try_put_by_itself(limit, &value, on, done))
      tuple_failed(value, why);
    return done;
  }
  void hold_at_most(std::size_t n) noexcept { most_holds_ = n; }
  /// Notes that the present handler of the actor is its last.
  void quits() noexcept { quitting_ = true; }
  [[nodiscard]] on_failure policy() const noexcept { return policy_; }
  /// Handles the failure of a tuple that the actor has taken before.
  template <class T>
  void tuple_failed(T& tuple, const std::exception_ptr& why) {
    if (!has_to_be_told(why)) return;
    if (auto* const content = content_of(tuple)) dead_letter(std::move(*content), why);
  }
  template <class T>
  void tuple_failed(T& tuple, const error& why) {
    tuple_failed(tuple, as_exception(why));
  }

  // ---- for the loop that lets the actor consume a batch

  /// Returns true if the actor takes another tuple in this step. Later results belong to that
  /// tuple.
  [[nodiscard]] bool goes_on(const stage_batch& b) noexcept {
    if (b.done == b.size || out_->is_blocked() || holds() >= most_holds_ || quitting_ ||
        is_cancelled())
      return false;
    out_->begin_input();
    return true;
  }

  // ---- for the actor's turns

  /// Sets the actor that was made. Its maker knows the class behind the pointer.
  void carried_out_by(void* who) noexcept { object_ = who; }
  /// Runs the node if a `go` that has come to the actor brings the run right.
  void go_has_come(actor_base& on) noexcept {
    if (turns_.take()) run(on, nullptr);
  }
  /// Called when the actor ends, while it still has its holds.
  void actor_ends(const exit_reason& why) noexcept;
  /// Called when the actor touches the node no more.
  void actor_ended(const exit_reason& why) noexcept;

  // ---- as a node

  std::size_t drop_inputs() noexcept override { return in_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return in_.waiting(); }
  /// Makes the actor. If that fails, the stream fails.
  void begin(actor_base& from, const std::shared_ptr<graph>& owner) override;
  /// Helps the stage's actor, too. Requires a turn of the actor that has called `begin`.
  bool help() noexcept override;

 private:
  class in_a_step;

  /// Returns true if no further result is put out.
  [[nodiscard]] bool is_over() const noexcept { return closed_ || held_was_dropped_; }
  /// Returns true if the actor's present tuple was counted as dropped: the stream ended early under
  /// its hold.
  [[nodiscard]] bool is_dropped() const noexcept { return is_over() && holds() != 0; }
  void drop_held() noexcept;
  [[nodiscard]] bool has_to_be_told(const std::exception_ptr& why);
  [[nodiscard]] static std::exception_ptr as_exception(const error& why);
  std::exception_ptr put_by_itself(void* value, const tuple_type& type, actor_base& on);
  std::exception_ptr try_put_by_itself(std::size_t limit, void* value, actor_base& on, bool& done);
  template <class F>
  std::exception_ptr by_itself(const F& f, actor_base& on);

  void schedule() noexcept override;
  step_outcome step(turn& t) override;
  void abandon(turn& t) noexcept override;
  void consume_or_lose(stage_batch& b);
  void dealt_with(some_tuples batch, std::size_t n, std::size_t before, turn& t);
  step_outcome nothing(turn& t);
  void stop();
  void close(turn& t) noexcept;

  graph& owner_;
  const std::shared_ptr<const actor_maker> maker_;
  inputs in_;
  const on_failure policy_;
  std::size_t most_holds_ = 1024;
  bool in_step_ = false;
  bool quitting_ = false;
  bool closed_ = false;
  bool held_was_dropped_ = false;
  bool gone_ = false;
  bool stopped_ = false;
  void* object_ = nullptr;
  ref<protocol<void(go), void(leave)>> actor_;  ///< written by `begin` alone
  borrowed_turns turns_;
};

/// The arguments of a stage's actor beside the user's own.
struct stage_seat {
  using garrick_sendable = void;
  std::shared_ptr<graph> owner;
  actor_node* at;
};

/// Makes the actors of a stage, and calls them. The copies of a pattern share it; it does not
/// change.
class actor_maker {
 public:
  struct abilities {
    /// The actors themselves report which tuples have failed, and keep a copy of each tuple for
    /// that if they need one. So the node keeps no copy.
    bool say_what_failed;
    bool restart;  ///< they have an `on_restart()`
  };
  actor_maker(const tuple_type& t, abilities a) noexcept : takes(t), can(a) {}
  virtual ~actor_maker() = default;
  actor_maker(const actor_maker&) = delete;
  actor_maker& operator=(const actor_maker&) = delete;

  /// Returns an actor that is made of copies of the arguments. Throws the exceptions of the copies.
  [[nodiscard]] virtual result<ref<protocol<void(go), void(leave)>>> make(
      actor_base& from, const spawn_options& o, stage_seat seat) const = 0;
  /// Lets an actor consume tuples as long as the node's `goes_on` returns true.
  virtual void consume(void* actor, actor_node& n, stage_batch& b) const = 0;
  virtual void restart(void* /*actor*/) const {}
  virtual void stop(void* /*actor*/) const {}

  const tuple_type& takes;
  const abilities can;
};

/// The user's actor, with the turns of its node.
template <class A, class... Args>
class seated_actor final : public A {
 public:
  explicit seated_actor(stage_seat seat, core::detail::kept<Args>... args)
      : A(std::forward<core::detail::kept<Args>>(args)...), seat_(std::move(seat)) {
    this->sit(*seat_.at, seat_.owner);
    seat_.at->carried_out_by(static_cast<A*>(this));
  }

  using A::on;
  void on(go) { seat_.at->go_has_come(*this); }
  void on(leave) { this->quit(); }
  void on_exit(const exit_reason& why) {
    seat_.at->actor_ends(why);              // before the class's own on_exit drops its holds
    const last_words here{*seat_.at, why};  // also if the class's own on_exit throws
    if constexpr (requires { static_cast<A&>(*this).on_exit(why); })
      static_cast<A&>(*this).on_exit(why);
  }

 private:
  struct last_words {
    actor_node& to;
    const exit_reason& why;
    ~last_words() { to.actor_ended(why); }
  };
  stage_seat seat_;
};

/// An actor that itself reports which tuples have failed, see actor_maker::abilities.
template <class A>
concept says_what_failed = requires { typename A::garrick_says_what_failed; };
template <class A>
concept can_restart = requires(A& a) { a.on_restart(); };

/// The maker of actors of the class A, with these arguments.
template <class A, class... Args>
class one_actor_maker final : public actor_maker {
  using In = typename A::stage_input;

 public:
  explicit one_actor_maker(std::tuple<Args...> a)
      : actor_maker(tuple_type_of<In>,
                    {.say_what_failed = says_what_failed<A>, .restart = can_restart<A>}),
        args_(std::move(a)) {}

  [[nodiscard]] result<ref<protocol<void(go), void(leave)>>> make(actor_base& from,
                                                                  const spawn_options& o,
                                                                  stage_seat seat) const override {
    auto made = std::apply(
        [&](const Args&... as) {
          return from.template try_spawn<seated_actor<A, Args...>>(o, std::move(seat), Args(as)...);
        },
        args_);
    if (!made) return made.error();
    return ref<protocol<void(go), void(leave)>>(*std::move(made));
  }
  void consume(void* actor, actor_node& n, stage_batch& b) const override {
    A& a = *static_cast<A*>(actor);
    for (In* const first = static_cast<In*>(b.first); n.goes_on(b); ++b.done)
      a.consume(std::move(first[b.done]));
  }
  void restart(void* actor) const override {
    if constexpr (can_restart<A>) static_cast<A*>(actor)->on_restart();
  }
  void stop(void* actor) const override {
    if constexpr (requires(A& a) { a.on_stop(); }) static_cast<A*>(actor)->on_stop();
  }

 private:
  const std::tuple<Args...> args_;
};

/// A stage that is an actor: one class for all types of actors and tuples.
struct any_actor_stage {
  std::shared_ptr<const actor_maker> maker;
  std::string name;
  on_failure policy = on_failure::fail;
  bool own_thread = false;

  /// Throws std::invalid_argument for `restart` if the actors have no `on_restart()`.
  void follow(on_failure p);
  [[nodiscard]] plan describe() const;
  [[nodiscard]] any_inlet_ptr build(const builder& b, const any_inlet_ptr& next) const;
};

}  // namespace garrick::patterns::detail
