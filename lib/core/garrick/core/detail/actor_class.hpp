// Which classes are actors', and their protocols: for what takes a class by name, such as
// `spawn<A>()`, so that a class that is none is refused in our words.
//
// Private: installed because templates need it.
#pragma once

#include <garrick/core/protocol/protocol.hpp>

#include <type_traits>

namespace garrick::core {
class actor_base;
}

namespace garrick::core::detail {

/// A class that has been defined and is an actor's.
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
/// The protocol of an actor's class; of another class, which checked_actor refuses, any.
template <class A>
using protocol_of = typename protocol_of_actor<A>::type;

/// False for every A: an overload that must not be called asserts it.
template <class A>
inline constexpr bool takes_braces = false;
/// GCC shows this name in an error.
struct options_in_braces_have_no_such_member;

}  // namespace garrick::core::detail
