// Error responses, also without memory, and the end of an edge of the wait graph.
#include <garrick/base/platform/assert.hpp>
#include <garrick/core/cell/respond.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/cell/wait_graph.hpp>

#include <exception>
#include <new>
#include <string_view>

namespace garrick::core {

namespace {

envelope* make_error_envelope(base::error why) noexcept {
  try {
    return detail::make_envelope<base::error>(std::move(why));
  } catch (const std::bad_alloc&) {  // `why` is still there
  }
  constexpr std::size_t bytes = detail::block_bytes(sizeof(base::error));
  static_assert(bytes == base::block_pool::block_step);
  void* const block = base::block_pool::allocate_reserved();
  if (block == nullptr) base::out_of_memory("an error cannot be answered to a request");
  auto* const e = static_cast<envelope*>(block);
  e->next = nullptr;
  e->type = &base::message_type_of<base::error>;
  e->sender_id = 0;
  e->word = std::uint64_t{bytes / 64} << 56;
  ::new (e->raw()) base::error(std::move(why));
  return e;
}

}  // namespace

void respond_error(pending_request r, base::error why) noexcept {
  if (r.requester == nullptr) return;
  envelope* const e = make_error_envelope(std::move(why));
  e->set(envelope_flag::failure);
  detail::send_response(r, e);
}

base::error told_by_handler(base::error why) noexcept {
  if (why != base::errc::not_handled) return why;
  return base::make_error(base::errc::broken_promise, why.detail());
}

base::error detail::exception_as_error(std::string_view where) noexcept {
  try {
    throw;
  } catch (const std::exception& x) {
    return base::make_error(base::errc::receiver_failed, where, x.what());
  } catch (...) {
    return base::make_error(base::errc::receiver_failed, where,
                            "an exception that is not a std::exception");
  }
}

void detail::respond_exception(pending_request r) noexcept {
  const cell* const self = here.running;
  respond_error(r, exception_as_error(self != nullptr ? self->name() : std::string_view()));
}

void detail::note_answered(cell& requester, std::uint64_t id) noexcept {
  requester.env().waits->answered(requester.id(), id);
}

}  // namespace garrick::core
