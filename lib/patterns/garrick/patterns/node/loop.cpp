#include <garrick/patterns/node/loop.hpp>

namespace garrick::patterns::detail {

void loop::remove(std::size_t n) noexcept {
  // order: seq_cst, as the fence of the gate's flag
  const std::size_t left = count_.fetch_sub(n, std::memory_order_seq_cst) - n;
  if (left > credits_ / 2) return;
  if (sleeps_.take()) gate_->wake(nullptr, 0);
}

}  // namespace garrick::patterns::detail
