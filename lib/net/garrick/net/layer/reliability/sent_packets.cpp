#include "garrick/net/layer/reliability/sent_packets.hpp"

#include <utility>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net {
namespace {

constexpr std::size_t first_ring = 64;

}  // namespace

void sent_packets::grow() {
  std::vector<sent_packet> larger(ring_.empty() ? first_ring : ring_.size() * 2);
  const auto larger_mask = static_cast<std::uint32_t>(larger.size()) - 1;
  waiting_.each(oldest_, span(),
                [&](sequence_number s) { larger[s & larger_mask] = std::move(slot(s)); });
  ring_ = std::move(larger);
}

sent_packet& sent_packets::add(packet bytes, std::uint8_t lane) {
  GARRICK_ASSERT(span() < sequence_window, "the window of numbers is full");
  if (span() == ring_.size()) grow();
  const sequence_number s = next_++;
  sent_packet& p = slot(s);
  p.bytes = std::move(bytes);
  p.lane = lane;
  p.attempt = 0;
  p.declared_lost = false;
  waiting_.insert(s);
  append(s, in_flight);
  return p;
}

void sent_packets::append(sequence_number s, list_name to) noexcept {
  chain& l = lists_[to];
  sent_packet& p = slot(s);
  p.list = to;
  p.previous = l.back;
  if (l.count++ == 0)
    l.front = s;
  else
    slot(l.back).following = s;
  l.back = s;
}

void sent_packets::unlink(sequence_number s) noexcept {
  const sent_packet& p = slot(s);
  chain& l = lists_[p.list];
  if (s == l.front)
    l.front = p.following;
  else
    slot(p.previous).following = p.following;
  if (s == l.back)
    l.back = p.previous;
  else
    slot(p.following).previous = p.previous;
  --l.count;
}

void sent_packets::move_to(sequence_number s, list_name to) noexcept {
  unlink(s);
  append(s, to);
}

void sent_packets::remove(sequence_number s) noexcept {
  unlink(s);
  waiting_.erase(s);
  slot(s).bytes = {};
}

void sent_packets::advance() noexcept {
  while (oldest_ != next_ && !waiting_.contains(oldest_)) ++oldest_;
}

}  // namespace garrick::net
