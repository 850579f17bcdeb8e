// The receiver of a router without members.
#include <garrick/core/changing_router.hpp>
#include <garrick/core/spawn.hpp>

namespace garrick::core::detail {

namespace {

/// An actor that has ended before its first turn.
class router_without_members final : public dynamic_actor {};

}  // namespace

cell* spawn_nobody(environment& env) {
  using cell_type = actor_cell<router_without_members>;
  auto* const c = ::new (allocate_cell(env, base::locality_hint(), sizeof(cell_type)))
      cell_type(env, cell_kind::event, true);
  refuse_cell(*c, base::exit_reason(base::exit_code::normal));
  return c;
}

}  // namespace garrick::core::detail
