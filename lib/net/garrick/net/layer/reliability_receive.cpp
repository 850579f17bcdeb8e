// The receiving half of `reliability`: the peer's packets, its acknowledgements, and the losses
// that these show.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "garrick/net/layer/internal/reserved_lanes.hpp"
#include "garrick/net/layer/reliability.hpp"

namespace garrick::net {

using base::duration;
using base::instant;
using internal::is_reserved;

namespace {

constexpr duration shortest_delay = duration::microseconds(200);
constexpr duration longest_delay = duration::milliseconds(1);
// After this many packets in one go an acknowledgement is sent from within `receive`.
constexpr std::uint32_t most_unacknowledged = 16;

constexpr std::uint32_t most_reorder_packets = 96;
constexpr std::uint32_t most_reorder_eighths = 8;
constexpr duration least_reorder_time = duration::microseconds(500);
// The tolerance for reordering is halved after this many congestion events without a spurious loss.
constexpr std::uint32_t calm_events = 16;
constexpr duration shortest_burst = duration::milliseconds(1);
constexpr std::int64_t burst_packets = 10;
// An acknowledgement of a number that lies further back is invalid.
constexpr std::int32_t oldest_understood = 1 << 16;

}  // namespace

// ---- up -----------------------------------------------------------------------------------------

void reliability::receive(const incoming& m, layer_context& c) {
  if (broken_) return;
  reliability_header header;
  if (!decode(m.bytes, header) || (header.acknowledges && !is_honest(header.received))) {
    ++counters_.malformed;
    return;
  }
  if (header.acknowledges) acknowledged(header.received, c);
  if (!header.has_packet || broken_) return;
  const std::span<const std::byte> bytes = m.bytes.subspan(header.size);
  if (header.has_part && received_.awaits(header.number)) {
    const auto whole = parts_.add(header.number, header.part, bytes);
    if (whole) arrived(header, {*whole, m.lane}, c);
  } else {
    arrived(header, m.with(bytes), c);
  }
}

/// Takes a whole packet, or a part of a packet that has come before or lies beyond the window.
void reliability::arrived(const reliability_header& header, const incoming& m, layer_context& c) {
  using arrival = received_packets::arrival;
  const arrival a = received_.record(header.number);
  if (a == arrival::beyond) {
    ++counters_.beyond;
    return;
  }
  newest_ = header.number;
  newest_attempt_ = header.attempt;
  newest_at_ = c.now();
  acknowledge_later(a, c.now());
  if (a == arrival::duplicate) {
    ++counters_.duplicates;
  } else {
    ++counters_.received;
    if (parts_.size() != 0) parts_.forget(header.number);
    static_cast<void>(c.up(m));
  }
  if (unacknowledged_ >= most_unacknowledged && !broken_) send_acknowledgement(c);
}

void reliability::acknowledge_later(received_packets::arrival a, instant now) noexcept {
  ++unacknowledged_;
  if (a != received_packets::arrival::in_order || unacknowledged_ > 1) {
    acknowledge_at_ = now;
    return;
  }
  const duration delay = times_.known() ? times_.smoothed() / 4 : longest_delay;
  acknowledge_at_ = now + std::clamp(delay, shortest_delay, longest_delay);
}

// ---- acknowledgements of the peer ---------------------------------------------------------------

bool reliability::is_honest(const acknowledgement& a) noexcept {
  const sequence_number next = sent_.next();
  if (sequence_distance(a.next, next) < 0 || sequence_distance(a.newest, next) <= 0) return false;
  if (sequence_distance(a.next, sent_.oldest()) > oldest_understood) return false;
  if (a.range_count != 0) {
    const packet_range& last = a.ranges[a.range_count - 1u];
    if (sequence_distance(a.next + last.offset + last.count, next) < 0) return false;
  }
  return !sent_.waits(a.newest) || a.attempt <= sent_[a.newest].attempt;
}

void reliability::sample(const acknowledgement& a, instant now) noexcept {
  const sent_packet& p = sent_[a.newest];
  const bool is_last = a.attempt == p.attempt && a.attempt != sent_packet::many_attempts;
  if (a.attempt < p.attempt) was_spurious(p);
  if (!is_last && a.attempt != 0) return;
  const duration all = now - (is_last ? p.last : p.first);
  // A peer's delay is believed only if the rest is not shorter than the shortest time so far.
  const duration delay = duration::microseconds(a.delay);
  const bool plausible = times_.known() && all - delay >= times_.shortest();
  times_.sample(plausible ? all - delay : all);
  if (is_last) {
    newest_order_ = std::max(newest_order_, p.order);
    congestion_.sampled(times_.latest(), p.order, next_order_);
  }
}

std::size_t reliability::drop(sequence_number s) noexcept {
  const sent_packet& p = sent_[s];
  // A packet that was sent once was delivered by that transmission.
  if (p.attempt == 0) newest_order_ = std::max(newest_order_, p.order);
  const std::size_t charge = charge_of(p.bytes);
  if (p.list == sent_packets::in_flight) flight_ -= charge;
  const std::size_t kind = is_reserved(p.lane) ? 1 : 0;
  packets_[kind] -= 1;
  bytes_[kind] -= p.bytes.size();
  sent_.remove(s);
  return charge;
}

void reliability::acknowledged(const acknowledgement& a, layer_context& c) {
  const instant now = c.now();
  std::size_t gone = 0;
  const auto take = [&](sequence_number s) { gone += drop(s); };
  if (sent_.waits(a.newest)) {
    sample(a, now);
    take(a.newest);
  }
  const std::int32_t below = sequence_distance(sent_.oldest(), a.next);
  if (below > 0) sent_.each(sent_.oldest(), static_cast<std::uint32_t>(below), take);
  for (std::size_t i = 0; i < a.range_count; ++i)
    sent_.each(a.next + a.ranges[i].offset, a.ranges[i].count, take);
  if (gone == 0) return;

  sent_.advance();
  in_a_row_ = 0;
  progress_ = now;
  set_timeout();
  congestion_.acknowledged(gone, newest_order_, limited_, times_, now);
  find_losses(now);
  pace_ = congestion_.pace(times_);
  burst_ = std::max(shortest_burst, duration::nanoseconds((burst_packets * 1500 * pace_) >> 10));
  pump(c);
  make_room(c);
}

void reliability::make_room(layer_context& c) {
  // Waits for room for several packets, so that a waiting layer is not told of each.
  if (!full_ || packets_[0] > settings_.most_packets / 4 * 3 ||
      bytes_[0] > settings_.most_bytes / 4 * 3 || unsent_ > settings_.most_unsent_bytes / 4 * 3)
    return;
  full_ = false;
  c.notify({link_event::kind::writable});
}

// ---- losses -------------------------------------------------------------------------------------

void reliability::find_losses(instant now) noexcept {
  loss_at_ = instant::never();
  const duration trip = std::max(times_.smoothed(), times_.latest());
  const duration later =
      trip + std::max(trip / 8 * static_cast<std::int64_t>(reorder_eighths_), least_reorder_time);
  while (!sent_.empty(sent_packets::in_flight)) {
    const sent_packet& p = sent_.first_of(sent_packets::in_flight);
    if (p.order >= newest_order_) return;
    if (newest_order_ - p.order < reorder_packets_ && p.last + later > now) {
      loss_at_ = p.last + later;
      return;
    }
    declare_lost(sent_.front(sent_packets::in_flight), now);
  }
}

void reliability::declare_lost(sequence_number s, instant now) noexcept {
  sent_packet& p = sent_[s];
  flight_ -= charge_of(p.bytes);
  if (congestion_.lost(p.order, next_order_, times_, now)) {
    one_for_free_ = true;
    // Earlier reordering may have ceased.
    if (++events_in_order_ % calm_events == 0) {
      reorder_packets_ = std::max(reorder_packets_ / 2, least_reorder_packets);
      reorder_eighths_ = std::max(reorder_eighths_ / 2, least_reorder_eighths);
    }
  }
  p.event = congestion_.event();
  p.declared_lost = true;
  sent_.move_to(s, is_reserved(p.lane) ? sent_packets::lost_urgent : sent_packets::lost);
}

void reliability::was_spurious(const sent_packet& p) noexcept {
  ++counters_.spurious;
  if (!p.declared_lost) return;
  // This path reorders packets, so they are given more time from now on.
  events_in_order_ = 0;
  reorder_packets_ = std::min(reorder_packets_ * 2, most_reorder_packets);
  reorder_eighths_ = std::min(reorder_eighths_ * 2, most_reorder_eighths);
  congestion_.was_not_lost(p.event);
}

void reliability::set_timeout() noexcept {
  const duration once = times_.known()
                            ? std::max(times_.late() + longest_delay, settings_.shortest_timeout)
                            : settings_.first_timeout;
  const duration longest = std::max(once, settings_.longest_timeout);
  timeout_ = std::min(once * (std::int64_t{1} << std::min(in_a_row_, 30u)), longest);
}

}  // namespace garrick::net
