// Finds the directory of the system that an actor lives in.
#include <garrick/base/platform/assert.hpp>
#include <garrick/system/names/directory.hpp>

namespace garrick::system::detail {

directory& directory_of(const core::actor_base& self) noexcept {
  core::facilities* const all = core::actor_access::get(self).env().offered;
  GARRICK_ASSERT(all != nullptr, "the environment of this actor has no registry and no groups");
  return static_cast<directory&>(*all);  // no other class derives from facilities
}

}  // namespace garrick::system::detail
