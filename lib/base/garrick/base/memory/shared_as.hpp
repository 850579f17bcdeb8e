// Shared objects that are known by their base.
#pragma once

#include <memory>
#include <type_traits>

namespace garrick::base {

/// Shares what `made` points to; without memory for the count it is deleted, and std::bad_alloc is
/// thrown. std::make_shared is compiled for each derived type anew, fifty functions each time, and
/// this once for each base. It costs an allocation more.
template <class Base>
[[nodiscard]] std::shared_ptr<Base> shared_as(Base* made) {
  static_assert(std::has_virtual_destructor_v<Base>);
  return std::shared_ptr<Base>(made);
}

}  // namespace garrick::base
