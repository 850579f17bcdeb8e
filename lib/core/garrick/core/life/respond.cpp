// Error responses, also without memory, and the end of an edge of the wait graph.
#include <garrick/base/platform/assert.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/life/internal/last_words.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/life/wait_graph.hpp>

#include <exception>
#include <new>
#include <string_view>

namespace garrick::core {

envelope* detail::reserved_envelope(const base::message_type* type, const char* what) noexcept {
  void* const block = base::block_pool::allocate_reserved();
  if (block == nullptr) base::out_of_memory(what);
  auto* const e = static_cast<envelope*>(block);
  e->next = nullptr;
  e->type = type;
  e->sender_id = 0;
  e->word = std::uint64_t{base::block_pool::block_step / 64} << 56;
  return e;
}

void respond_done(pending_request r) noexcept {
  if (r.requester == nullptr) return;
  detail::send_response(r, last_words<unit>("a request cannot be answered"));
}

void respond_error(pending_request r, base::error why) noexcept {
  if (r.requester == nullptr) return;
  envelope* const e =
      last_words<base::error>("an error cannot be answered to a request", std::move(why));
  e->set(envelope_flag::failure);
  detail::send_response(r, e);
}

void respond_timed_out(pending_request r) noexcept {
  if (r.requester == nullptr) return;
  envelope* const e =
      last_words<base::error>("a time-out cannot be answered to a request", base::errc::timeout);
  e->set(envelope_flag::failure);
  e->set(envelope_flag::timed_out);
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
