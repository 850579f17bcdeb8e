#include <garrick/patterns/node/loop.hpp>

namespace garrick::patterns::detail {

void loop::settle(std::size_t n, std::size_t more) noexcept {
  const std::uint64_t change = (std::uint64_t{more} << held_shift) - n;
  // order: seq_cst, as the fence of the gate's flag
  const std::uint64_t left = count_.fetch_add(change, std::memory_order_seq_cst) + change;
  if (moving(left) > credits_ / 2) return;
  if (sleeps_.take()) gate_->wake(nullptr, 0);
}

void loop::flush() noexcept {
  flushes_.fetch_add(1, std::memory_order_release);  // order: pairs with flushes
  for (wakeable* const w : holders_) w->wake(nullptr, 0);
}

}  // namespace garrick::patterns::detail
