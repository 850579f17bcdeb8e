// Actors that are made of behaviors: dynamic (the wildcard), typed, and with a state of their own.
//
// Thread safety: the actor's turn only. Paper 001 §4.2.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/behavior.hpp>
#include <garrick/core/detail/behavior_stack.hpp>

#include <utility>

namespace garrick::core {

/// Keep the present behavior below the new one: `unbecome` returns to it.
struct keep_behavior_t {};
inline constexpr keep_behavior_t keep_behavior{};

/// The `self` of a dynamic function-based actor; also a base class for dynamic classes.
class dynamic_actor : public actor<any_protocol> {
 public:
  using garrick_uses_behaviors = dynamic_actor;
  /// Replaces the behavior. Skipped messages are tried again, in order.
  void become(behavior b) { detail::push_behavior(this_cell(), behavior_, std::move(b), false); }
  void become(keep_behavior_t, behavior b) {
    detail::push_behavior(this_cell(), behavior_, std::move(b), true);
  }
  template <class First, class... Rest>
    requires(!std::is_base_of_v<behavior, First> && !std::is_same_v<First, keep_behavior_t>)
  void become(First first, Rest... rest) {
    become(behavior(std::move(first), std::move(rest)...));
  }
  template <class First, class... Rest>
    requires(!std::is_base_of_v<behavior, First>)
  void become(keep_behavior_t, First first, Rest... rest) {
    become(keep_behavior, behavior(std::move(first), std::move(rest)...));
  }
  /// Back to the behavior below; without one the actor ends.
  void unbecome() { detail::pop_behavior(this_cell(), behavior_); }
  [[nodiscard]] bool has_behavior() const noexcept { return static_cast<bool>(behavior_); }
  /// What happens to messages that no case takes.
  void set_unmatched(unmatched what) { this_cell().set_unmatched(what); }

 protected:
  dynamic_actor() = default;
  ~dynamic_actor() = default;

 private:
  friend struct behavior_access;
  behavior behavior_;  ///< the present one; those below it are in the extension
};

/// The `self` of a typed function-based actor: every behavior must keep the whole protocol.
template <class P>
class typed_actor : public actor<P> {
 public:
  using garrick_uses_behaviors = typed_actor;
  void become(typed_behavior<P> b) {
    detail::push_behavior(this->this_cell(), behavior_, std::move(b), false);
  }
  void become(keep_behavior_t, typed_behavior<P> b) {
    detail::push_behavior(this->this_cell(), behavior_, std::move(b), true);
  }
  void unbecome() { detail::pop_behavior(this->this_cell(), behavior_); }
  [[nodiscard]] bool has_behavior() const noexcept { return static_cast<bool>(behavior_); }

 protected:
  typed_actor() = default;
  ~typed_actor() = default;

 private:
  friend struct behavior_access;
  behavior behavior_;  ///< as a dynamic actor's
};

/// A `self` with members: `stateful<counter_state>` or `stateful<counter_state, protocol<…>>`.
template <class State, class P = any_protocol>
class stateful
    : public std::conditional_t<std::is_same_v<P, any_protocol>, dynamic_actor, typed_actor<P>> {
 public:
  State state{};

 protected:
  stateful() = default;
  ~stateful() = default;
};

}  // namespace garrick::core
