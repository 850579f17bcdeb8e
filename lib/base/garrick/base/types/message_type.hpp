// What the core knows about a message's type once the compiler has forgotten it: one constant
// descriptor for each type.
//
// Identity is the descriptor's address, and nothing else: no RTTI, no hash, no comparison of names
// decides a cast.
//
// Rule for shared libraries: the descriptor is a weak symbol of default visibility, which the
// dynamic linker makes one across libraries, as long as the message type itself has default
// visibility there and libraries are not loaded with RTLD_LOCAL and -Bsymbolic. A type with hidden
// visibility, or in an anonymous namespace, is private to its library, or file: such a message is
// simply not recognised elsewhere, it is never taken for another. Do not link with --icf=all, which
// may fold equal constants; --icf=safe is fine.
//
// Thread safety: constants, initialised at compile time.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "garrick/base/types/copyable.hpp"
#include "garrick/base/types/print.hpp"
#include "garrick/base/types/type_name.hpp"

namespace garrick::base {

struct message_type {
  std::string_view name;
  std::uint32_t size;
  std::uint32_t align;
  bool trivially_copyable;
  void (*destroy)(void* object) noexcept;  ///< null if there is nothing to do
  /// `to` is raw memory; `from` stays to be destroyed
  void (*move_construct)(void* to, void* from) noexcept;
  /// null if the type cannot be copied; may throw
  void (*copy_construct)(void* to, const void* from);
  void (*print)(const void* object, std::string& out);
};

namespace detail {

template <class T>
void destroy_message(void* object) noexcept {
  static_cast<T*>(object)->~T();
}
template <class T>
void move_message(void* to, void* from) noexcept {
  ::new (to) T(std::move(*static_cast<T*>(from)));
}
template <class T>
void copy_message(void* to, const void* from) {
  ::new (to) T(*static_cast<const T*>(from));
}
template <class T>
[[gnu::cold]] void print_message(const void* object, std::string& out) {
  print_to(out, *static_cast<const T*>(object));
}

template <class T>
consteval auto copy_function() noexcept -> void (*)(void*, const void*) {
  if constexpr (copyable_message<T>)
    return copy_message<T>;
  else
    return nullptr;
}

template <class T>
struct message_descriptor {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> &&
                    std::is_same_v<T, std::remove_cv_t<T>>,
                "messages are decayed object types");
  static_assert(std::is_move_constructible_v<T>, "a message must be movable");

  [[gnu::visibility("default")]] static constexpr message_type value{
      .name = shown_name<T>,
      .size = sizeof(T),
      .align = alignof(T),
      .trivially_copyable = std::is_trivially_copyable_v<T>,
      .destroy = std::is_trivially_destructible_v<T> ? nullptr : destroy_message<T>,
      .move_construct = move_message<T>,
      .copy_construct = copy_function<T>(),
      .print = print_message<T>,
  };
};

}  // namespace detail

/// The one descriptor of T; cv-qualifiers and references do not count. Its address is T's identity.
template <class T>
inline constexpr const message_type& message_type_of =
    detail::message_descriptor<std::remove_cvref_t<T>>::value;

}  // namespace garrick::base
