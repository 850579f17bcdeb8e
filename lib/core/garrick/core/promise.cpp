#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/promise.hpp>
#include <garrick/core/result.hpp>

namespace garrick::core {

void promise_base::drop_slow() noexcept {
  const base::error* const why = detail::here.drop_reason;
  fail(why == nullptr ? base::error(base::errc::broken_promise) : *why);
}

namespace detail {

base::error answered_later() { return base::errc::broken_promise; }

}  // namespace detail
}  // namespace garrick::core
