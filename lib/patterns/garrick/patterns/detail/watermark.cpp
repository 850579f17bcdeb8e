// Watermarks, the replicas that wait for them, and the errors of tuples' times (event_time.hpp).
#include <garrick/patterns/detail/watermark.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace garrick::patterns::detail {

watermark::watermark(std::int64_t disorder, duration idle_after) noexcept
    : disorder_(disorder), idle_after_(idle_after) {}
watermark::watermark(const watermark& o) = default;
watermark::watermark(watermark&& o) noexcept = default;
watermark::~watermark() = default;

void watermark::inputs_are(inputs& in) {
  if (inputs_.empty()) inputs_.resize(in.size(), {.heard = now_});
  if (inputs_.size() == 1) return;
  bool ended = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].ended && in.ended_at(i)) ended = inputs_[i].ended = true;
    if (in.waits_at(i)) inputs_[i].heard = now_;
  }
  if (ended) look();
}

void watermark::reads(std::size_t i) {
  at_ = i;
  inputs_[i].heard = now_;
  if (std::exchange(inputs_[i].idle, false)) look();
}

void watermark::is_at_least(std::int64_t t) noexcept {
  value_ = std::max(value_, t);
  next_ = std::max(next_, value_);
}

void watermark::was_not_read() noexcept {
  for (input& i : inputs_) i.heard = now_;
}

instant watermark::deadline() const noexcept {
  instant first = instant::never();
  if (inputs_.size() > 1)
    for (const input& i : inputs_)
      if (!i.ended && !i.idle) first = std::min(first, i.heard + idle_after_);
  return first;
}

void watermark::on_time(instant now) noexcept {
  for (input& i : inputs_)
    if (!i.ended && i.heard + idle_after_ <= now) i.idle = true;
  look();
}

void watermark::look() noexcept {
  std::size_t lowest = inputs_.size();
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].holds_back() &&
        (lowest == inputs_.size() || inputs_[i].latest < inputs_[lowest].latest))
      lowest = i;
  if (lowest == inputs_.size()) {
    lowest = 0;
    for (std::size_t i = 1; i < inputs_.size(); ++i)
      if (inputs_[i].latest > inputs_[lowest].latest) lowest = i;
  }
  slowest_ = lowest;
  if (inputs_[lowest].latest == unknown) return;
  value_ = std::max(value_, floor_to(inputs_[lowest].latest - disorder_, grain_));
  next_ = value_ + grain_;
}

// ---- the watermarks that replicas wait for

awaited_watermarks::awaited_watermarks(std::size_t replicas, std::int64_t shortest)
    : shortest_(shortest), all_(replicas) {}
awaited_watermarks::~awaited_watermarks() = default;

void awaited_watermarks::says(std::size_t i, std::int64_t reached, std::int64_t next) noexcept {
  all_[i].next.store(next, std::memory_order_relaxed);  // order: relaxed; before `reached`
  // order: release, pairs with awaits: `next` is that of this watermark, or of a later one
  all_[i].reached.store(reached, std::memory_order_release);
}

bool awaited_watermarks::awaits(std::size_t i, std::int64_t w) const noexcept {
  // order: acquire, pairs with says. A `next` of a later call is right, too: it holds for more
  // tuples, and those behind them meet a watermark that is not below this one
  if (w - shortest_ >= all_[i].reached.load(std::memory_order_acquire)) return true;
  return w >= all_[i].next.load(std::memory_order_relaxed);  // order: relaxed; as above
}

bool awaited_watermarks::some_awaits(std::int64_t w) const noexcept {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (awaits(i, w)) return true;
  return false;
}

// ---- tuples' times

template <>
std::string text_of<duration>(std::int64_t n) {
  return duration::nanoseconds(n).to_string();
}
template <>
std::string text_of<ticks_unit>(std::int64_t n) {
  return std::to_string(n);
}

void time_is_out_of_range(std::int64_t t) {
  throw std::out_of_range(
      "garrick: event_time: this tuple's time is out of range: " + std::to_string(t) +
      ". It must be below 2^61, which is 73 years of nanoseconds");
}

void length_is_bad(const std::string& what, const std::string& is, bool may_be_zero) {
  throw std::invalid_argument("garrick: " + what + " is " + is +
                              (may_be_zero ? "; it must not be negative, nor without an end"
                                           : "; it must be above zero, and have an end"));
}

}  // namespace garrick::patterns::detail
