#include <garrick/patterns/node/past_bounds.hpp>

namespace garrick::patterns::detail {

void deliver_past_bounds(const core::handle& to, core::envelope* e, bool first) noexcept {
  core::cell* const c = core::handle_access::get(to);
  e->sender_id = core::detail::running_id();
  if (first)
    c->deliver_urgent_now(e);
  else
    c->deliver_now(e);
}

}  // namespace garrick::patterns::detail
