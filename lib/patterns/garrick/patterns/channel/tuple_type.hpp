// A channel's knowledge of its tuples: their size, and how a tuple is moved and destroyed, but not
// their type.
//
// Problem: a stream has channels of many types, and the code of a channel is the same for all.
// Compiled for each type, it would take most of a stream's time to compile. So it is compiled once,
// over bytes, and only the functions in this table are compiled for each type: for a trivial type
// only the function that makes dead letters.
//
// Private: installed because templates need it.
//
// Thread safety: a constant.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/base/types/first_failure.hpp>
#include <garrick/base/types/sendable.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

class node;

/// An item with a member `tuple`, which is empty in the framework's own items: marks and
/// watermarks. These are not counted.
template <class T>
concept perhaps_a_tuple = requires { typename T::garrick_perhaps_a_tuple; };

/// Returns the tuple in an item that a node takes; null if there is none.
template <class T>
[[nodiscard]] T* content_of(T& taken) noexcept {
  return &taken;
}
template <perhaps_a_tuple T>
[[nodiscard]] auto* content_of(T& taken) noexcept {
  return taken.tuple ? &*taken.tuple : nullptr;
}

/// A type of tuples. A null pointer stands for a function that is trivial, or that the type lacks.
struct tuple_type {
  std::size_t size;
  std::size_t alignment;
  void (*move)(void* to, void* from) noexcept;           ///< null: by its bytes
  void (*destroy)(void* first, std::size_t n) noexcept;  ///< null: nothing
  /// Returns how many of the items are tuples. Null: all are.
  std::size_t (*tuples)(const void* first, std::size_t n) noexcept;
  /// Copies a tuple. Null: it cannot be copied, or it stays as it is when it is moved from.
  void (*copy)(void* to, const void* from);
  /// Makes a dead letter of the tuple, which is moved into the letter.
  void (*dead)(node& of, void* tuple, const std::exception_ptr& why);
  /// The size is an odd number times 2^`shift`, and `inverse` is the inverse of the odd number
  /// modulo 2^64.
  unsigned shift;
  std::uint64_t inverse;

  /// Returns how many tuples lie in this many bytes. Requires a multiple of the size. A shift and a
  /// product take half the time of a division by a size that the compiler does not know.
  [[nodiscard]] constexpr std::size_t count_of(std::size_t bytes) const noexcept {
    return static_cast<std::size_t>((bytes >> shift) * inverse);
  }
  /// Moves a tuple to raw memory.
  void move_one(void* to, void* from) const noexcept;
  void destroy_some(void* first, std::size_t n) const noexcept {
    if (destroy != nullptr) destroy(first, n);
  }
  [[nodiscard]] std::size_t tuples_among(const void* first, std::size_t n) const noexcept {
    return tuples == nullptr ? n : tuples(first, n);
  }
};

template <class T>
inline constexpr bool moves_quietly =
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>;
template <class Tuple, bool Quiet = false>
struct tuple_move_may_throw : base::detail::failed_check {
  static_assert(Quiet,
                "garrick: to move or destroy a tuple throws nothing: make this one's move "
                "constructor noexcept, or send a std::unique_ptr to it");
};

/// The functions in the table.
template <class T>
struct tuple_functions {
  static_assert(base::detail::unless<moves_quietly<T>, tuple_move_may_throw<T>>::reported);

  static void move(void* to, void* from) noexcept {
    std::construct_at(static_cast<T*>(to), std::move(*static_cast<T*>(from)));
  }
  static void destroy(void* first, std::size_t n) noexcept {
    for (T* t = static_cast<T*>(first); n != 0; ++t, --n) t->~T();
  }
  static std::size_t tuples(const void* first, std::size_t n) noexcept {
    std::size_t some = 0;
    for (const T* t = static_cast<const T*>(first); n != 0; ++t, --n) some += t->tuple ? 1 : 0;
    return some;
  }
  static void copy(void* to, const void* from) {
    std::construct_at(static_cast<T*>(to), *static_cast<const T*>(from));
  }
  template <class Node>
  static void dead(Node& of, void* tuple, const std::exception_ptr& why) {
    using content_type = std::remove_pointer_t<decltype(content_of(std::declval<T&>()))>;
    if constexpr (base::is_sendable<content_type>)  // else the pattern was refused with a reason
      if (content_type* const content = content_of(*static_cast<T*>(tuple)))
        of.dead_letter(std::move(*content), why);
  }

  static constexpr tuple_type table() noexcept {
    tuple_type e{.size = sizeof(T),
                 .alignment = alignof(T),
                 .move = nullptr,
                 .destroy = nullptr,
                 .tuples = nullptr,
                 .copy = nullptr,
                 .dead = &dead<node>,
                 .shift = static_cast<unsigned>(std::countr_zero(sizeof(T))),
                 .inverse = 1};
    for (int digits = 1; digits < 64; digits *= 2)  // Newton's steps: each doubles the correct bits
      e.inverse *= 2 - (sizeof(T) >> e.shift) * e.inverse;
    if constexpr (!std::is_trivially_copyable_v<T>) {
      e.move = &move;
      if constexpr (base::copyable_message<T>) e.copy = &copy;
    }
    if constexpr (!std::is_trivially_destructible_v<T>) e.destroy = &destroy;
    if constexpr (perhaps_a_tuple<T>) e.tuples = &tuples;
    return e;
  }
};
/// The table of T.
template <class T>
inline constexpr tuple_type tuple_type_of = tuple_functions<T>::table();

}  // namespace garrick::patterns::detail
