#include <garrick/base/concurrency/leader_seat.hpp>

#include <garrick/base/concurrency/brief_wait.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#if __has_include(<sys/eventfd.h>)
#include <sys/eventfd.h>
#endif

namespace garrick::base {

leader_seat::~leader_seat() {
  // order: relaxed; no other thread uses it any more
  if (const int mine = descriptor_.load(std::memory_order_relaxed); mine >= 0) ::close(mine);
}

int leader_seat::descriptor() noexcept {
#if __has_include(<sys/eventfd.h>)
  int seen = descriptor_.load(std::memory_order_relaxed);  // order: relaxed; a number
  if (seen >= 0) return seen;
  const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // order: relaxed both; a number, and the first one counts
  if (made < 0 || descriptor_.compare_exchange_strong(seen, made, std::memory_order_relaxed,
                                                      std::memory_order_relaxed))
    return made;
  ::close(made);
  return seen;
#else
  return -1;
#endif
}

void leader_seat::interrupt() noexcept {
  // A thread that waits elsewhere has seen the descriptor, so this thread will see it soon.
  int to = -1;
  // order: relaxed; a number
  for (brief_wait<real_atomics> wait; (to = descriptor_.load(std::memory_order_relaxed)) < 0;)
    wait.once();
  const std::uint64_t one = 1;
  // The write fails only if so many interruptions wait that one more makes no difference.
  static_cast<void>(!::write(to, &one, sizeof one));
}

void leader_seat::guests_come_by(void (*call)(void* whose) noexcept, void* whose) noexcept {
  const std::lock_guard lock(lock_);
  call_ = call;
  whose_ = whose;
}

void leader_seat::call_guest() noexcept {
  const std::lock_guard lock(lock_);
  if (call_ != nullptr) call_(whose_);
}

}  // namespace garrick::base
