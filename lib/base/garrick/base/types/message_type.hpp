// The description of a message's type that the core uses at run time: one constant descriptor for
// each type.
//
// A type is identified by its descriptor's address, and by nothing else: no RTTI, no hash and no
// comparison of names decides a cast.
//
// Rule for shared libraries: the descriptor is a weak symbol of default visibility. The dynamic
// linker merges the copies of all libraries, if the message type itself has default visibility
// there and no library is loaded with RTLD_LOCAL and -Bsymbolic. A type with hidden visibility, or
// in an anonymous namespace, is private to its library or file: elsewhere such a message is not
// recognised, but it is never taken for another. Do not link with --icf=all, which may fold equal
// constants; --icf=safe is fine.
//
// Thread safety: constants, initialised at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "garrick/base/types/copyable.hpp"
#include "garrick/base/types/print.hpp"
#include "garrick/base/types/type_name.hpp"

namespace garrick::base {

/// A message's type, erased: the name, and the functions that move, copy, print and destroy a
/// value.
///
/// `using garrick_unreported = void;` in a type is for messages between the framework's own actors:
/// such a message may reach an actor that has ended, and its loss does no harm.
struct message_type {
  std::string_view name;                   ///< its name in logs
  std::uint32_t size;                      ///< bytes of a value
  std::uint32_t align;                     ///< bytes
  bool trivially_copyable;                 ///< may be copied byte by byte
  bool unreported;                         ///< no dead letter: T::garrick_unreported
  void (*destroy)(void* object) noexcept;  ///< null if there is nothing to do
  /// Moves a value to raw memory; the value moved from is still to be destroyed. May throw.
  void (*move_construct)(void* to, void* from);
  /// Copies a value to raw memory; null if the type cannot be copied. May throw.
  void (*copy_construct)(void* to, const void* from);
  /// Appends the value as text, field by field. May throw.
  void (*print)(const void* object, std::string& out);

  /// Like `print`, but writes at most `limit` bytes, as `print_to` with a limit does.
  void print_within(std::size_t limit, const void* object, std::string& out) const {
    detail::print_limit bound(out, limit);
    print(object, out);
    bound.tell();
  }
};

namespace detail {

template <class T>
void destroy_message(void* object) noexcept {
  static_cast<T*>(object)->~T();
}
template <class T>
void move_message(void* to, void* from) {
  ::new (to) T(std::move(*static_cast<T*>(from)));
}
template <class T>
void copy_message(void* to, const void* from) {
  ::new (to) T(*static_cast<const T*>(from));
}
// One function for all types of a size that are copied byte by byte.
template <std::size_t Size>
void move_bytes(void* to, void* from) {
  std::memcpy(to, from, Size);
}
template <std::size_t Size>
void copy_bytes(void* to, const void* from) {
  std::memcpy(to, from, Size);
}
template <class T>
[[gnu::cold]] void print_message(const void* object, std::string& out) {
  print_to(out, *static_cast<const T*>(object));
}

// These ask the compiler itself: each class of <type_traits> in their place would bring six more
// classes.
template <class T>
concept movable_message = requires(T& x) { T(static_cast<T&&>(x)); };
#if defined(__clang__)
template <class T>
inline constexpr bool needs_no_destructor = __is_trivially_destructible(T);
#else
template <class T>
inline constexpr bool needs_no_destructor = __has_trivial_destructor(T);
#endif

template <class T>
consteval auto destroy_function() noexcept -> void (*)(void*) noexcept {
  if constexpr (needs_no_destructor<T>)
    return nullptr;
  else
    return destroy_message<T>;
}
template <class T>
consteval auto move_function() noexcept -> void (*)(void*, void*) {
  if constexpr (__is_trivially_copyable(T))
    return move_bytes<sizeof(T)>;
  else
    return move_message<T>;
}
template <class T>
consteval auto copy_function() noexcept -> void (*)(void*, const void*) {
  if constexpr (!copyable_message<T>)
    return nullptr;
  else if constexpr (__is_trivially_copyable(T))
    return copy_bytes<sizeof(T)>;
  else
    return copy_message<T>;
}

template <class T>
inline constexpr bool unreported_message = requires { typename T::garrick_unreported; };

template <class T>
struct message_descriptor {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> &&
                    std::is_same_v<T, std::remove_cv_t<T>>,
                "messages are decayed object types");
  static_assert(movable_message<T>, "a message must be movable");

  [[gnu::visibility("default")]] static constexpr message_type value{
      .name = shown_name<T>,
      .size = sizeof(T),
      .align = alignof(T),
      .trivially_copyable = __is_trivially_copyable(T),
      .unreported = unreported_message<T>,
      .destroy = destroy_function<T>(),
      .move_construct = move_function<T>(),
      .copy_construct = copy_function<T>(),
      .print = print_message<T>,
  };
};

}  // namespace detail

/// The one descriptor of T; cv-qualifiers and references do not count. Its address identifies T:
/// `&message_type_of<T> == envelope->type`.
template <class T>
inline constexpr const message_type& message_type_of =
    detail::message_descriptor<std::remove_cvref_t<T>>::value;

}  // namespace garrick::base
