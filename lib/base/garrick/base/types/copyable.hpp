// A trait that tells if a message can really be copied. std::vector<std::unique_ptr<T>> claims to
// be copyable although its copy does not compile. Every aggregate with such a field makes the same
// claim. So the trait checks the parts, too.
//
// Thread safety: compile time only.
#pragma once

#include <type_traits>

#include "garrick/base/types/sendable.hpp"

namespace garrick::base {

namespace detail {

template <class T, class... Open>
consteval bool can_be_copied();

template <class Part, class... Open>
concept copyable_part = plainly_owned<Part> || can_be_copied<std::remove_const_t<Part>, Open...>();

template <class... Parts, class... Open>
consteval bool parts_can_be_copied(made_of<Parts...>, context<false, Open...>) {
  return (copyable_part<Parts, Open...> && ...);
}
template <class Kind, class... Open>
consteval bool parts_can_be_copied(Kind, context<false, Open...>) {
  return true;  // no parts to check: its copy constructor decides
}

/// `Open` are the types that are being checked already: an aggregate may contain itself through a
/// container.
template <class T, class... Open>
consteval bool can_be_copied() {
  if constexpr (std::is_array_v<T>)
    return can_be_copied<std::remove_all_extents_t<T>, Open...>();
  else if constexpr (!std::is_copy_constructible_v<T>)
    return false;
  else if constexpr (std::is_trivially_copyable_v<T> || (std::is_same_v<T, Open> || ...))
    return true;
  else
    return parts_can_be_copied(classify<T>(), context<false, T, Open...>{});
}

}  // namespace detail

/// A message that can be sent to several receivers: T and all that it is made of can be copied.
template <class T>
concept copyable_message = detail::can_be_copied<std::remove_cv_t<T>>();

}  // namespace garrick::base
