// A promise that nobody kept.
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/promise.hpp>

namespace garrick::core {

void promise_base::drop_slow() noexcept {
  const base::error* const why = detail::here.drop_reason;
  fail(why == nullptr ? base::error(base::errc::broken_promise) : *why);
}

}  // namespace garrick::core
