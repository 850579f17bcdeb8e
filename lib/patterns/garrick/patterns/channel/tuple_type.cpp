#include <garrick/patterns/channel/tuple_type.hpp>

#include <cstring>

namespace garrick::patterns::detail {

void tuple_type::move_one(void* to, void* from) const noexcept {
  if (move != nullptr)
    move(to, from);
  else
    std::memcpy(to, from, size);
}

}  // namespace garrick::patterns::detail
