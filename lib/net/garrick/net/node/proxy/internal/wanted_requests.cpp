#include <garrick/net/node/proxy/internal/wanted_requests.hpp>

namespace garrick::net::internal {

void wanted_requests::set(std::uint64_t request, base::instant until) {
  const std::lock_guard guard(mutex_);
  const auto at = until_.find(request);
  if (at != until_.end())
    at->second = until;
  else if (until_.size() < most_)
    until_.emplace(request, until);
  // order: relaxed; the mailbox passes a limit on with its request, and a withdrawal may be missed
  size_.store(until_.size(), std::memory_order_relaxed);
}

void wanted_requests::forget(std::uint64_t request) noexcept {
  if (size() == 0) return;
  const std::lock_guard guard(mutex_);
  until_.erase(request);
  size_.store(until_.size(), std::memory_order_relaxed);  // order: as above
}

bool wanted_requests::knows(std::uint64_t request) const noexcept {
  if (size() == 0) return false;
  const std::lock_guard guard(mutex_);
  return until_.contains(request);
}

base::instant wanted_requests::until(std::uint64_t request) const noexcept {
  // order: relaxed, in `size`: a limit was set before the mailbox was pushed to, which the runner
  // has acquired; the entry stays until the request is answered, so the count is not zero since
  if (size() == 0) return base::instant::never();
  const std::lock_guard guard(mutex_);
  const auto at = until_.find(request);
  return at != until_.end() ? at->second : base::instant::never();
}

}  // namespace garrick::net::internal
