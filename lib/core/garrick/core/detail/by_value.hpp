// Checks that a coroutine takes its message by value.
//
// Problem: the message is gone at the coroutine's first wait. A parameter that refers to it would
// then refer to freed memory, and no compiler warns. So a function that returns a task has to take
// each part of its message by value, exactly in its type.
//
// The function may be overloaded. So the check takes its address with the type that it should have.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/protocol/pack.hpp>

#include <type_traits>

namespace garrick::core::detail {

/// Holds if A has a handler `on` that takes these values and returns an R.
template <class A, class R, class... Ts>
concept on_values = requires { static_cast<R (A::*)(Ts...)>(&A::on); } ||
                    requires { static_cast<R (A::*)(Ts...) const>(&A::on); } ||
                    requires { static_cast<R (A::*)(Ts...)&>(&A::on); } ||
                    requires { static_cast<R (A::*)(Ts...) const&>(&A::on); } ||
                    requires { static_cast<R (*)(Ts...)>(&A::on); };

/// The same for a function object.
template <class F, class R, class... Ts>
concept called_with_values = requires { static_cast<R (F::*)(Ts...)>(&F::operator()); } ||
                             requires { static_cast<R (F::*)(Ts...) const>(&F::operator()); };

/// Holds if R is a task and A has no handler `on` that takes these values and returns an R. A
/// concept, so that the handler is looked up only for a task: each look-up goes through all
/// overloads.
template <class A, class R, class... Ts>
concept borrowing_task = is_task<std::remove_cvref_t<R>> && !on_values<A, R, Ts...>;

/// True if A's handler for this content is a coroutine that takes some of it by reference.
template <class A, class R, class Content>
inline constexpr bool on_borrows = borrowing_task<A, R, Content>;
template <class A, class R, class... Ts>
inline constexpr bool on_borrows<A, R, pack<Ts...>> = borrowing_task<A, R, Ts...>;
template <class A, class R>
inline constexpr bool on_borrows<A, R, unit> = false;

}  // namespace garrick::core::detail
