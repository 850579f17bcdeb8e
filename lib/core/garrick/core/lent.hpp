// The way round the isolation check, for those who know why nothing goes wrong.
//
//   std::atomic<int> hits{0};
//   system.spawn<counter>(lent(hits));            // counter(std::atomic<int>& hits)
//   system.spawn(lent([&](dynamic_actor& self) -> behavior { … }));
//
// Thread safety: as that of what was lent.
#pragma once

#include <type_traits>
#include <utility>

namespace garrick::core {

/// Says that an actor may have something that others can reach, too: a reference to a variable of
/// the spawner, a pointer, a view, a closure with captures. The compiler no longer checks it. It
/// must outlive the actor, and who writes to it while another reads must synchronise.
///
/// `lent(x)` of a variable is a reference to it; of a pointer, or of what is no variable, it holds
/// the value. In a spawn it stands for an argument or for the actor's function, which gets what was
/// lent, `X&` or `X&&`. In a message it is a type of its own, `lent<X&>` or `lent<X>`, which the
/// receiver opens with `get()`.
///
///     spawn<viewer>(lent(table_));                 // viewer(const table& t)
///     send(to, lent(&page));                       // on(lent<page*> p) { read(*p.get()); }
template <class T>
class [[nodiscard]] lent {
 public:
  using garrick_sendable = void;
  using garrick_lent = T;  ///< for the framework: X& of a variable, X of a value

  /// Of a variable, or of a value, which is moved in.
  constexpr explicit lent(T&& x) noexcept(std::is_nothrow_constructible_v<T, T&&>)
      : value_(std::forward<T>(x)) {}
  /// Of a variable that is a pointer: what it points to is lent, and not the variable.
  template <class Pointer>
    requires(std::is_pointer_v<T> && std::is_same_v<std::remove_const_t<Pointer>, T>)
  constexpr explicit lent(Pointer& x) noexcept : value_(x) {}

  /// What was lent.
  [[nodiscard]] constexpr T& get() noexcept { return value_; }
  /// The same; of a value, for reading.
  [[nodiscard]] constexpr const T& get() const noexcept { return value_; }

 private:
  T value_;
};
/// Of a variable `lent<X&>`, of a value or a pointer `lent<X>`.
template <class T>
lent(T&&) -> lent<
    std::conditional_t<std::is_pointer_v<std::remove_cvref_t<T>>, std::remove_cvref_t<T>, T>>;

}  // namespace garrick::core
