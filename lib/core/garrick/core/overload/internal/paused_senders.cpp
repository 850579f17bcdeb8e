#include <garrick/core/overload/internal/paused_senders.hpp>

#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace garrick::core {

namespace {

/// Called by the clock when the time has passed, or when the clock ends.
void time_is_over(void* context, std::uint64_t) noexcept {
  auto& one = *static_cast<paused_sender*>(context);
  one.go_on();
  one.drop();
}

}  // namespace

bool paused_sender::arm(base::duration patience) noexcept {
  add_holder();  // the clock's
  const base::instant end = clock_.now() + patience;
  try {
    // A stopped clock has made its call before `arm` returns.
    timer_ = clock_.arm(end, {time_is_over, this, 0, time_is_over});
  } catch (const std::exception&) {
    // The sender does not pause: it continues, and owes.
    drop();
    return false;
  }
  if (end.is_never()) drop();  // the clock has not taken it
  return true;
}

void paused_sender::disarm() noexcept {
  if (clock_.cancel(timer_)) drop();
}

paused_sender* paused_senders::add(base::runnable& who, base::executor& home,
                                   base::clock_service& clock, base::duration patience) noexcept {
  paused_sender* one = nullptr;
  try {
    one = new paused_sender(who, home, clock);
  } catch (const std::bad_alloc&) { return nullptr; }
  if (!one->arm(patience)) return one->drop(), nullptr;
  one->add_holder();
  paused_sender* over = nullptr;
  {
    const std::lock_guard lock(lock_);
    while (first_ != nullptr && first_->is_claimed()) {
      paused_sender* const next = first_->next;
      first_->next = std::exchange(over, first_);
      first_ = next;
    }
    (first_ == nullptr ? first_ : last_->next) = one;
    last_ = one;
  }
  while (over != nullptr) std::exchange(over, over->next)->drop();
  return one;
}

void paused_senders::go_on() noexcept {
  paused_sender* one = nullptr;
  {
    const std::lock_guard lock(lock_);
    one = std::exchange(first_, nullptr);
    last_ = nullptr;
  }
  while (one != nullptr) {
    paused_sender* const next = one->next;
    if (one->claim()) {
      one->disarm();
      one->schedule();
    }
    std::exchange(one, next)->drop();
  }
}

}  // namespace garrick::core
