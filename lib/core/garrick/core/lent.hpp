// The exemption from the isolation check, for code that is safe for another reason.
//
//   std::atomic<int> hits{0};
//   system.spawn<counter>(lent(hits));            // counter(std::atomic<int>& hits)
//   system.spawn(lent([&](dynamic_actor& self) -> behavior { … }));
//
// Thread safety: that of the lent object.
#pragma once

#include <type_traits>
#include <utility>

namespace garrick::core {

/// Lets an actor have an object that other code can reach, too: a reference to a variable of the
/// spawner, a pointer, a view, a closure with captures. The compiler no longer checks it. Requires
/// that the object outlives the actor, and that a thread which writes to it synchronises with all
/// others that use it.
///
/// `lent(x)` refers to a variable `x`, but holds the value of a pointer or a temporary. In a spawn
/// it stands for an argument of the actor, which gets the lent object as `X&` or `X&&`, or for the
/// actor's function. In a message it is a type of its own, `lent<X&>` or `lent<X>`, which the
/// receiver opens with `get()`.
///
///     spawn<viewer>(lent(table_));                 // viewer(const table& t)
///     send(to, lent(&page));                       // on(lent<page*> p) { read(*p.get()); }
template <class T>
class [[nodiscard]] lent {
 public:
  using garrick_sendable = void;
  using garrick_only_here = void;  ///< it refers to memory of this process
  using garrick_lent = T;          ///< for the framework: X& of a variable, X of a value

  /// Lends a variable, or a value, which is moved in.
  constexpr explicit lent(T&& x) noexcept(std::is_nothrow_constructible_v<T, T&&>)
      : value_(std::forward<T>(x)) {}
  /// Lends the object to which a pointer variable points, and not the variable.
  template <class Pointer>
    requires(std::is_pointer_v<T> && std::is_same_v<std::remove_const_t<Pointer>, T>)
  constexpr explicit lent(Pointer& x) noexcept : value_(x) {}

  /// Returns the lent object.
  [[nodiscard]] constexpr T& get() noexcept { return value_; }
  /// Returns the lent object, a lent value only for reading.
  [[nodiscard]] constexpr const T& get() const noexcept { return value_; }

 private:
  T value_;
};
/// Deduces `lent<X&>` for a variable, `lent<X>` for a value or a pointer.
template <class T>
lent(T&&) -> lent<
    std::conditional_t<std::is_pointer_v<std::remove_cvref_t<T>>, std::remove_cvref_t<T>, T>>;

}  // namespace garrick::core
