// Returns memory to the operating system, one slice after the other.
#include <garrick/system/threads/memory_keeper.hpp>

#include <algorithm>
#include <limits>

namespace garrick::system {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// 80 MiB a second, for which the clock's thread works about one millisecond in a hundred. A slice
// holds up the timers for some ten microseconds.
constexpr std::size_t slice_bytes = 2 * mib;
constexpr base::duration pause = base::duration::milliseconds(25);

std::size_t bytes_of(std::uint32_t keep) noexcept {
  constexpr std::uint64_t all = std::numeric_limits<std::size_t>::max();
  const std::uint64_t bytes = std::uint64_t{keep} * mib;
  return keep == std::numeric_limits<std::uint32_t>::max() ? all : std::min(bytes, all);
}

}  // namespace

void memory_keeper::start(base::clock_service& clock, std::uint32_t keep) noexcept {
  clock_ = &clock;
  join(bytes_of(keep));
}

void memory_keeper::wake() noexcept {
  // order: relaxed; a call while a slice is armed needs no other slice
  if (armed_.exchange(true, std::memory_order_relaxed)) return;
  try {
    clock_->arm(
        clock_->now() + pause,
        {.fire = [](void* self, std::uint64_t) { static_cast<memory_keeper*>(self)->slice(); },
         .context = this});
  } catch (...) {  // no memory, or no thread for the clock: return all at once, without the clock
    armed_.store(false, std::memory_order_relaxed);  // order: as above
    base::block_pool::give_back(std::numeric_limits<std::size_t>::max());
  }
}

void memory_keeper::slice() noexcept {
  // order: relaxed; before the look at the pool, so that a call after the look arms the timer again
  armed_.store(false, std::memory_order_relaxed);
  if (base::block_pool::give_back(slice_bytes) != 0) wake();
}

}  // namespace garrick::system
