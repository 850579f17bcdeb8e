// Actors that are made of behaviors: dynamic (the wildcard), typed, and with a state of their own.
//
// Thread safety: the actor's turn only. Paper 001 §4.2.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/behavior.hpp>
#include <garrick/core/detail/behavior_stack.hpp>

#include <utility>

namespace garrick::core {

/// The type of `keep_behavior`.
struct keep_behavior_t {};
/// The first argument of a `become` that keeps the present behavior below the new one; `unbecome`
/// returns to it.
inline constexpr keep_behavior_t keep_behavior{};

/// The `self` of a dynamic function-based actor; also a base class for dynamic classes. The actor
/// takes messages of every type, according to its present behavior.
///
///     system.spawn([](dynamic_actor& self) -> behavior {
///       return {[&self](int) { self.quit(); }};
///     });
class dynamic_actor : public actor<any_protocol> {
 public:
  using garrick_uses_behaviors = dynamic_actor;
  /// Replaces the present behavior from the next message on. Skipped messages are tried again, in
  /// their order, before all others. An empty `b` returns to the behavior below; if there is none,
  /// the actor ends. A case of the present behavior may call `become`.
  ///
  ///     become(behavior{[this](open) { become(opened()); }});
  void become(behavior b) { detail::push_behavior(this_cell(), behavior_, std::move(b), false); }
  /// The same; the present behavior stays below the new one.
  ///
  ///     become(keep_behavior, [this](resume) { unbecome(); });
  void become(keep_behavior_t, behavior b) {
    detail::push_behavior(this_cell(), behavior_, std::move(b), true);
  }
  /// Replaces the present behavior by one of these cases.
  template <class First, class... Rest>
    requires(!std::is_base_of_v<behavior, First> && !std::is_same_v<First, keep_behavior_t>)
  void become(First first, Rest... rest) {
    become(behavior(std::move(first), std::move(rest)...));
  }
  /// The same; the present behavior stays below the new one.
  template <class First, class... Rest>
    requires(!std::is_base_of_v<behavior, First>)
  void become(keep_behavior_t, First first, Rest... rest) {
    become(keep_behavior, behavior(std::move(first), std::move(rest)...));
  }
  /// Returns to the behavior below; if there is none, the actor ends. Skipped messages are tried
  /// again.
  void unbecome() { detail::pop_behavior(this_cell(), behavior_); }
  /// Returns true if the actor has a behavior now.
  [[nodiscard]] bool has_behavior() const noexcept { return static_cast<bool>(behavior_); }
  /// Sets the rule for messages that no case takes, from the next message on. `unmatched::report`
  /// at first, and after a restart.
  void set_unmatched(unmatched what) { this_cell().set_unmatched(what); }

 protected:
  dynamic_actor() = default;
  ~dynamic_actor() = default;

 private:
  friend struct behavior_access;
  behavior behavior_;  ///< the present one; the extension has those below it
};

/// The `self` of a typed function-based actor; also a base class. Every behavior keeps the whole
/// protocol, which the compiler checks.
///
///     system.spawn([](typed_actor<adder>& self) -> typed_behavior<adder> {
///       return {[](int a, int b) { return a + b; }};
///     });
template <class P>
class typed_actor : public actor<P> {
 public:
  using garrick_uses_behaviors = typed_actor;
  /// Like dynamic_actor::become.
  void become(typed_behavior<P> b) {
    detail::push_behavior(this->this_cell(), behavior_, std::move(b), false);
  }
  /// The same; the present behavior stays below the new one.
  void become(keep_behavior_t, typed_behavior<P> b) {
    detail::push_behavior(this->this_cell(), behavior_, std::move(b), true);
  }
  /// Returns to the behavior below; if there is none, the actor ends. Skipped messages are tried
  /// again.
  void unbecome() { detail::pop_behavior(this->this_cell(), behavior_); }
  /// Returns true if the actor has a behavior now.
  [[nodiscard]] bool has_behavior() const noexcept { return static_cast<bool>(behavior_); }

 protected:
  typed_actor() = default;
  ~typed_actor() = default;

 private:
  friend struct behavior_access;
  behavior behavior_;  ///< the present one, as in dynamic_actor
};

/// A `self` with members: `stateful<counter_state>` or `stateful<counter_state, protocol<…>>`.
///
///     spawn([](stateful<counter_state>& self) -> behavior {
///       return {[&self](int x) { self.state.sum += x; }};
///     });
template <class State, class P = any_protocol>
class stateful
    : public std::conditional_t<std::is_same_v<P, any_protocol>, dynamic_actor, typed_actor<P>> {
 public:
  State state{};  ///< made before the function runs and at each restart; the actor's turn only

 protected:
  stateful() = default;
  ~stateful() = default;
};

}  // namespace garrick::core
