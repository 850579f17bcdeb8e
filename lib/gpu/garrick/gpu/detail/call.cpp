#include "garrick/gpu/detail/call.hpp"

namespace garrick::gpu::detail {

call::~call() = default;

bool call::settle(const error& why) noexcept {
  // order: acq_rel: pairs with itself: only one thread takes the completion, after it was set
  if (settled_.exchange(true, std::memory_order_acq_rel)) return false;
  fulfil(why);
  return true;
}

void call::fulfil(const error& why) noexcept {
  if (!completion_) return;
  if (why) {
    completion_->fail(why);
  } else {
    try {
      (*completion_)();
    } catch (...) { completion_->fail(make_error(errc::receiver_failed, "no memory left")); }
  }
  completion_.reset();
}

}  // namespace garrick::gpu::detail
