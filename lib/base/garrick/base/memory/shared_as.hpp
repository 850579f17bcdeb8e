// Shared pointers to objects of which only the base class is known.
//
// Thread safety: any thread; the pointer is a std::shared_ptr.
#pragma once

#include <memory>
#include <type_traits>

namespace garrick::base {

/// Returns a shared pointer that owns `made` from now on. If there is no memory for the count,
/// `made` is deleted and std::bad_alloc is thrown. std::make_shared would be compiled for each
/// derived type, fifty functions each time; this function is compiled once for each base, and costs
/// one allocation more.
template <class Base>
[[nodiscard]] std::shared_ptr<Base> shared_as(Base* made) {
  static_assert(std::has_virtual_destructor_v<Base>);
  return std::shared_ptr<Base>(made);
}

}  // namespace garrick::base
