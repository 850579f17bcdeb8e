// Content that several envelopes share: its last holder destroys it.
#include <garrick/core/mailbox/envelope.hpp>

namespace garrick::core::detail {

void release_shared(shared_block* b, const base::message_type* type) noexcept {
  // order: acq_rel: the last holder destroys after all others have read
  if (b->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (type->destroy != nullptr) type->destroy(b->value());
  base::block_pool::deallocate(b, b->bytes);
}

}  // namespace garrick::core::detail
