// The handle of a delayed or periodic send, which cancels it; `send_after` and `send_every` return
// it.
//
// Thread safety: an object is used by one thread at a time.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/turn/timer_record.hpp>

#include <utility>

namespace garrick::core {

/// A delayed or periodic send that can be cancelled. It can be moved, not copied. It may outlive
/// the actor, and dropping it cancels nothing. An object is used by one thread at a time.
///
///     timer t = send_after(1s, self(), tick{});
///     t.cancel();
class timer {
 public:
  timer() noexcept = default;
  /// For the framework: takes over one reference to the record.
  explicit timer(timer_record* adopted) noexcept : record_(adopted) {}
  timer(timer&& o) noexcept : record_(std::exchange(o.record_, nullptr)) {}
  timer& operator=(timer&& o) noexcept {
    std::swap(record_, o.record_);
    return *this;
  }
  ~timer() {
    if (record_ != nullptr) record_->drop_holder();
  }
  /// Stops the timer. Returns true if the timer had yet to fire; false if it has fired, was
  /// cancelled before, or is empty. A message that has already entered a mailbox stays there. Never
  /// waits.
  bool cancel() noexcept { return record_ != nullptr && record_->cancel_and_unlist(); }
  /// Returns true if the timer has yet to fire. The value is a hint while the clock's thread works.
  [[nodiscard]] bool active() const noexcept { return record_ != nullptr && record_->active(); }

 private:
  timer_record* record_ = nullptr;
};

namespace detail {

timer delayed(cell& self, cell& target, envelope* e, base::duration delay);
timer periodic(cell& self, cell& target, envelope* e, base::duration period);

}  // namespace detail

}  // namespace garrick::core
