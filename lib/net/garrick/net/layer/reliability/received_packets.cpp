#include "garrick/net/layer/reliability/received_packets.hpp"

#include <algorithm>

namespace garrick::net {

received_packets::arrival received_packets::record(sequence_number s) noexcept {
  const std::int32_t distance = sequence_distance(next_, s);
  if (distance < 0) return arrival::duplicate;
  if (distance >= static_cast<std::int32_t>(sequence_window)) return arrival::beyond;
  if (distance == 0) {
    if (!has_gaps()) {
      next_ = ++end_;
      return arrival::in_order;
    }
    const std::uint32_t follow = ahead_.members_from(next_ + 1, end_ - next_ - 1);
    ahead_.each(next_ + 1, follow, [this](sequence_number n) { ahead_.erase(n); });
    next_ += 1 + follow;
    return arrival::late;
  }
  if (ahead_.contains(s)) return arrival::duplicate;
  ahead_.insert(s);
  if (sequence_distance(end_, s) < 0) return arrival::late;
  gaps_ += s - end_;
  end_ = s + 1;
  return arrival::ahead;
}

bool received_packets::awaits(sequence_number s) const noexcept {
  const std::int32_t distance = sequence_distance(next_, s);
  return distance >= 0 && distance < static_cast<std::int32_t>(sequence_window) &&
         !ahead_.contains(s);
}

std::size_t received_packets::ranges(std::span<packet_range> into) const noexcept {
  std::size_t found = 0;
  // The newest ranges go first: a peer that has lost an acknowledgement knows least of them.
  for (sequence_number end = end_; end != next_ && found < into.size(); ++found) {
    const std::uint32_t count = ahead_.run_before(end, end - next_, true);
    const std::uint32_t offset = end - next_ - count;
    into[found] = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(count)};
    end -= count;
    end -= ahead_.run_before(end, end - next_, false);
  }
  std::reverse(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(found));
  return found;
}

}  // namespace garrick::net
