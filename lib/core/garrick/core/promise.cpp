// Promises that were dropped unkept.
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/promise.hpp>

#include <exception>

namespace garrick::core {

void promise_base::drop_slow() noexcept {
  if (request_.requester->env().is_copy()) {
    request_ = {};  // the parent has this promise, too, and answers
    return;
  }
  if (const base::error* const why = detail::here.drop_reason) return fail(*why);
  cell* const self = detail::here.running;
  if (self != nullptr && std::uncaught_exceptions() != 0 && lost_mail::keep_unkept(*self, request_))
    return;
  fail(base::errc::broken_promise);
}

}  // namespace garrick::core
