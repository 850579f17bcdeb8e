// Error responses, and the end of an edge of the wait graph.
#include <garrick/core/cell/respond.hpp>
#include <garrick/core/cell/wait_graph.hpp>

namespace garrick::core {

void respond_error(pending_request r, base::error why) noexcept {
  if (r.requester == nullptr) return;
  envelope* const e = detail::make_envelope<base::error>(std::move(why));
  e->set(envelope_flag::failure);
  detail::send_response(r, e);
}

void detail::note_answered(cell& requester, std::uint64_t id) noexcept {
  requester.env().waits->answered(requester.id(), id);
}

}  // namespace garrick::core
