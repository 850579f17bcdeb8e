// Tells classes of actors from others, and finds their protocols: for templates that take a class
// by name, such as `spawn<A>()`, so that another class is refused by an error of this framework.
//
// Private: installed because templates need it.
#pragma once

#include <garrick/core/protocol/protocol.hpp>

#include <type_traits>

namespace garrick::core {
class actor_base;
}

namespace garrick::core::detail {

/// Holds for an actor's class, once the class has been defined.
template <class A>
concept actor_class = requires { typename A::protocol_type; } && std::is_base_of_v<actor_base, A>;

template <class A>
struct protocol_of_actor {
  using type = any_protocol;
};
template <actor_class A>
struct protocol_of_actor<A> {
  using type = typename A::protocol_type;
};
/// The protocol of an actor's class; any_protocol for another class, which checked_actor refuses.
template <class A>
using protocol_of = typename protocol_of_actor<A>::type;

/// False for every A: an overload that must not be called asserts it.
template <class A>
inline constexpr bool takes_braces = false;
/// GCC shows this name in an error.
struct options_in_braces_have_no_such_member;

}  // namespace garrick::core::detail
