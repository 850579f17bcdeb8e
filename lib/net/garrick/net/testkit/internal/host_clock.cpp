#include "garrick/net/testkit/internal/host_clock.hpp"

#include <stdexcept>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net::testkit::internal {
namespace {

constexpr std::int64_t million = 1'000'000;

/// Returns ns * numerator / denominator, rounded down. Requires that numerator and denominator are
/// at most two millions.
std::int64_t scaled(std::int64_t ns, std::int64_t numerator, std::int64_t denominator) noexcept {
  return ns / denominator * numerator + ns % denominator * numerator / denominator;
}

std::int64_t scaled_up(std::int64_t ns, std::int64_t numerator, std::int64_t denominator) noexcept {
  return ns / denominator * numerator +
         (ns % denominator * numerator + denominator - 1) / denominator;
}

}  // namespace

host_clock::host_clock(timeline& t) : time_(t), base_(t.now()), local_base_(t.now()) {}

base::instant host_clock::local_of(base::instant time) const noexcept {
  return local_base_ + base::duration::nanoseconds(scaled((time - base_).count(), rate_, million));
}

base::instant host_clock::now() const noexcept { return local_of(time_.now()); }

base::instant host_clock::time_of(base::instant local) const noexcept {
  if (local.is_never()) return local;
  if (local <= local_base_) return base_;
  return base_ +
         base::duration::nanoseconds(scaled_up((local - local_base_).count(), million, rate_));
}

void host_clock::rebase() {
  local_base_ = now();
  base_ = time_.now();
}

void host_clock::jump(base::duration by) {
  if (by < base::duration()) throw std::invalid_argument("a steady clock does not go back");
  rebase();
  local_base_ = local_base_ + by;
  time_.changed();
}

void host_clock::set_rate(std::int64_t ppm) {
  if (ppm < -million / 2 || ppm > million)
    throw std::invalid_argument("a clock's rate is from -500000 to 1000000 millionths");
  rebase();
  rate_ = million + ppm;
  time_.changed();
}

base::timer_id host_clock::arm(base::instant deadline, const base::timer_task& task) {
  GARRICK_ASSERT(task.fire != nullptr, "a timer needs a function to call");
  if (deadline.is_never()) return {};
  const std::uint64_t number = ++last_;
  const key k{deadline, number};
  timers_.emplace(k, task);
  keys_.emplace(number, k);
  time_.changed();
  return {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
}

bool host_clock::cancel(base::timer_id id) noexcept {
  const auto at = keys_.find(number_of(id));
  if (at == keys_.end()) return false;
  timers_.erase(at->second);
  keys_.erase(at);
  return true;
}

base::instant host_clock::first_deadline() const noexcept {
  return timers_.empty() ? base::instant::never() : timers_.begin()->first.first;
}

void host_clock::fire_first() {
  const auto first = timers_.begin();
  const base::timer_task task = first->second;
  keys_.erase(first->first.second);
  timers_.erase(first);
  task.fire(task.context, task.argument);
}

void host_clock::drop_all() noexcept {
  // One by one: the destructor of a task's content may arm and cancel.
  while (!timers_.empty()) {
    const auto first = timers_.begin();
    const base::timer_task task = first->second;
    keys_.erase(first->first.second);
    timers_.erase(first);
    if (task.drop != nullptr) task.drop(task.context, task.argument);
  }
}

}  // namespace garrick::net::testkit::internal
