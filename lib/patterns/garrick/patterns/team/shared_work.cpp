#include "garrick/patterns/team/shared_work.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace garrick::patterns::detail {

std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& e) { return e.what(); } catch (const error& e) {
    return e.to_string();
  } catch (...) { return "an exception of an unknown type"; }
}

std::string what_was_thrown(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (...) { return what_was_thrown(); }
}

void shared_work::tell_others() {
  // By a virtual clock nothing takes time, and all participants are told.
  if (const std::uint64_t ns = spent(); ns != 0 && ns < wake_up_ns) return;
  for (; told_ < std::min(others_.size(), most_hands()); ++told_)
    send(others_[told_], work_on{shared_from_this(), seat_of(told_)});
}

void shared_work::ended() noexcept {
  const hand until_here = std::move(asked_);
  // order: relaxed: a hint for later requests; the count of the parts has ordered busy_ns_
  if (pace_ != nullptr && steps() != 0 && !has_failed())
    pace_->store(busy_ns_.load(std::memory_order_relaxed) * 1000 / steps(),
                 std::memory_order_relaxed);
  end();
}

void shared_work::failed(const char* where, std::size_t number) noexcept {
  // order: relaxed: the thread that sets it writes `why_`; the count of the parts orders that
  // before the end
  if (has_failed_.exchange(true, std::memory_order_relaxed)) return;
  try {
    why_ = make_error(errc::receiver_failed, name_,
                      std::string(where) + ' ' + std::to_string(number) + ": " + what_was_thrown());
  } catch (...) { why_ = make_error(errc::receiver_failed, name_, {}); }  // no memory for the text
}

error shared_work::why_no_result() const noexcept {
  try {
    return make_error(errc::receiver_failed, name_, what_was_thrown());
  } catch (...) { return make_error(errc::receiver_failed, name_, {}); }  // no memory for the text
}

}  // namespace garrick::patterns::detail
