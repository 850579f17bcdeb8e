// Finds the object that a stage calls or uses: the stage's own, or the object behind a `lent`.
//
// Private: installed because templates need it.
//
// Thread safety: as that of the object.
#pragma once

#include <garrick/garrick.hpp>

#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// The type of the called or used object: F itself, or T for F = lent<T>.
template <class F>
struct called_of {
  using type = F;
};
template <class T>
struct called_of<lent<T>> {
  using type = std::remove_cvref_t<T>;
};
template <class T>
struct called_of<const lent<T>> : called_of<lent<T>> {};
template <class F>
[[nodiscard]] auto& called(F& f) noexcept {
  if constexpr (std::is_same_v<typename called_of<F>::type, F>)
    return f;
  else
    return f.get();
}
/// The callable behind a stage's F.
template <class F>
using callee = decltype(called(std::declval<F&>()));

}  // namespace garrick::patterns::detail
