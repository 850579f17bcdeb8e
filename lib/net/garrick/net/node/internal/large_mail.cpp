#include <garrick/net/node/internal/large_mail.hpp>

#include <algorithm>
#include <utility>

namespace garrick::net::internal {

namespace {

/// The least number of bytes that a peer may send to an actor that has read everything.
constexpr std::uint64_t least_window = 64u << 10;

}  // namespace

void large_mail::holds(std::size_t bytes, std::size_t memory) {
  memory = std::max(bytes, memory);
  messages_.push_back({delivered_, memory});
  held_ += memory;
  payload_ += bytes;
  memory_ += memory;
  if (memory_ <= 2 * std::uint64_t{first_bytes}) return;
  payload_ = payload_ / 2 + 1;
  memory_ = memory_ / 2 + 1;
}

std::uint64_t large_mail::in_mailbox(std::size_t length) noexcept {
  while (!messages_.empty() && messages_.front().number + length <= delivered_) {
    held_ -= messages_.front().memory;
    messages_.pop_front();
  }
  return held_;
}

std::uint64_t large_mail::payload_of(std::uint64_t memory) const noexcept {
  return memory * payload_ / memory_;
}

std::uint64_t large_mail::grant(std::size_t length) noexcept {
  const std::uint64_t waits = in_mailbox(length);
  const std::uint64_t window = std::max(payload_of(first_bytes), least_window);
  // The peer has `first_bytes - taken_` left, which may be negative, as the room may be.
  const std::uint64_t all = (waits == 0 ? window : payload_of(first_bytes)) + taken_;
  const std::uint64_t used = first_bytes + payload_of(waits);
  return give(all > used ? all - used : 0, window);
}

std::uint64_t large_mail::grant_passed_on(bool has_credit) noexcept {
  return give(has_credit ? taken_ : 0, first_bytes);
}

std::uint64_t large_mail::grant_to_stuck(std::size_t length) noexcept {
  if (in_mailbox(length) >= 2 * std::uint64_t{first_bytes}) return 0;
  const std::uint64_t bytes = std::min<std::uint64_t>(taken_, first_bytes / 16);
  taken_ -= bytes;
  return bytes;
}

/// A grant is worth a frame if it is an eighth of the window.
std::uint64_t large_mail::give(std::uint64_t bytes, std::uint64_t window) noexcept {
  const std::uint64_t some = window / 8;
  due_ = first_bytes - window + some;
  bytes = std::min(bytes, taken_);
  if (bytes < some) bytes = 0;
  taken_ -= bytes;
  is_owed = taken_ >= due_;  // more may be given when the mailbox is shorter
  return bytes;
}

}  // namespace garrick::net::internal
