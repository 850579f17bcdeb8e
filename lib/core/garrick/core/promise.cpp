#include <garrick/core/promise.hpp>
#include <garrick/core/result.hpp>
#include <garrick/core/thread_context.hpp>

namespace garrick::core {

void promise_base::drop_slow() noexcept {
  const std::uint32_t code = detail::here.drop_code;
  fail(code == 0 ? base::error(base::errc::broken_promise) : base::error(static_cast<base::errc>(code)));
}

namespace detail {

base::error answered_later() { return base::errc::broken_promise; }

}  // namespace detail
}  // namespace garrick::core
