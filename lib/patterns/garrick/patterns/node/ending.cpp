#include <garrick/patterns/node/ending.hpp>
#include <garrick/patterns/node/past_bounds.hpp>

namespace garrick::patterns::detail {

namespace {

std::atomic<std::uint64_t> last_number{0};

}  // namespace

// order: relaxed; uniqueness only
ending::ending() noexcept : number_(last_number.fetch_add(1, std::memory_order_relaxed) + 1) {}

void ending::cancel(error why) noexcept {
  if (claimed_.exchange(true, std::memory_order_relaxed)) return;  // order: relaxed; one writes
  why_ = std::move(why);
  // order: release, pairs with failure(): the reason
  cancelled_.store(true, std::memory_order_release);
  wake_all();
}

error ending::failure() const {
  // order: acquire, pairs with cancel: the reason
  return cancelled_.load(std::memory_order_acquire) ? why_ : error();
}

void ending::node_ended() noexcept {
  // order: acq_rel: the work of each node, to the actor that is told of the end
  if (live_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const auto told = told_.lock();
  if (!told) return;
  // After a failure this message overtakes the mailbox: otherwise the actor would first look at all
  // mail that waits for its next incarnation.
  if (is_cancelled())
    send_first(told, all_ended{number_});
  else
    send_past_bounds(told, all_ended{number_});
}

}  // namespace garrick::patterns::detail
