#include "garrick/net/layer/reliability.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/reserved_lanes.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

using base::duration;
using base::instant;
using internal::is_reserved;

// The least size of a full packet for the congestion window; `largest_full` is the greatest.
constexpr std::size_t smallest_full = 536;
// Parts give their place in two bytes.
constexpr std::size_t largest_packet = 65535;
constexpr std::size_t largest_full = 9000;
// The bytes by which urgent packets may exceed the window.
constexpr std::size_t urgent_credit = 4 * 1500;
// The numbers that only urgent packets may use.
constexpr std::uint32_t urgent_numbers = 1024;

// Time-outs in a row after which the congestion window begins again.
constexpr std::uint32_t collapse_after = 3;

std::size_t full_charge(const layer_context& c) {
  return std::clamp(c.largest_below(), smallest_full, largest_full) + packet_overhead;
}

/// Sets a flag as long as it lives.
class raised {
 public:
  explicit raised(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~raised() { flag_ = false; }
  raised(const raised&) = delete;
  raised& operator=(const raised&) = delete;

 private:
  bool& flag_;
};

}  // namespace

base::error reliability::check(const reliability_settings& s) {
  using internal::check_range;
  if (base::error e = check_range("reliability.most_packets", s.most_packets, 1)) return e;
  if (base::error e = check_range("reliability.most_bytes", s.most_bytes, 1)) return e;
  if (base::error e = check_range("reliability.most_unsent_bytes", s.most_unsent_bytes, 1))
    return e;
  if (base::error e = check_range("reliability.most_urgent_packets", s.most_urgent_packets, 1))
    return e;
  if (base::error e = check_range("reliability.most_urgent_bytes", s.most_urgent_bytes, 1))
    return e;
  if (base::error e = internal::check_at_least("reliability.shortest_timeout", s.shortest_timeout,
                                               duration::milliseconds(2)))
    return e;
  if (s.longest_timeout < s.shortest_timeout)
    return internal::invalid("reliability.longest_timeout", "it is below shortest_timeout");
  return internal::check_positive("reliability.first_timeout", s.first_timeout);
}

reliability::reliability(reliability_settings s) : settings_(s), timeout_(s.first_timeout) {}

reliability_counters reliability::counters() const noexcept {
  reliability_counters all = counters_;
  all.gaps = received_.gaps();
  return all;
}

// ---- down ---------------------------------------------------------------------------------------

void reliability::send(outgoing&& m, layer_context& c) {
  if (broken_) return;
  const bool urgent = is_reserved(m.lane);
  const auto kind = static_cast<std::size_t>(urgent);
  packets_[kind] += 1;
  bytes_[kind] += m.bytes.size();
  if (!urgent) unsent_ += m.bytes.size();
  queues_[kind].push_back(std::move(m));
  if (urgent &&
      (packets_[1] > settings_.most_urgent_packets || bytes_[1] > settings_.most_urgent_bytes)) {
    give_up(base::make_error(net_errc::overload, "reliability",
                             "the peer does not acknowledge the system's messages"),
            c);
    return;
  }
  if (packets_[0] >= settings_.most_packets || bytes_[0] >= settings_.most_bytes) full_ = true;
  pump(c);
  if (unsent_ >= settings_.most_unsent_bytes) full_ = true;
}

bool reliability::waits(pressure p) const noexcept {
  const bool urgent = p == pressure::urgent;
  if (!sent_.empty(urgent ? sent_packets::lost_urgent : sent_packets::lost)) return true;
  return !queues_[urgent ? 1 : 0].empty() &&
         sent_.span() < (urgent ? sequence_window : sequence_window - urgent_numbers);
}

std::size_t reliability::next_charge(pressure p) const noexcept {
  const auto list = p == pressure::urgent ? sent_packets::lost_urgent : sent_packets::lost;
  if (!sent_.empty(list)) return charge_of(sent_.first_of(list).bytes);
  return charge_of(queues_[static_cast<std::size_t>(p)].front().bytes);
}

bool reliability::may_probe(const layer_context& c) const noexcept {
  if (sent_.empty(sent_packets::in_flight)) return true;
  return is_reserved(sent_.first_of(sent_packets::in_flight).lane) || c.below_is_writable();
}

bool reliability::may_send_ordinary(instant now) noexcept {
  if (one_for_free_ && !sent_.empty(sent_packets::lost)) return true;
  if (flight_ != 0 && flight_ + next_charge(pressure::ordinary) > congestion_.window())
    return false;
  if (paced_until_ <= now) return true;
  pace_at_ = paced_until_;
  return false;
}

void reliability::pump(layer_context& c) {
  // A packet on its way down may cause a call of this function: the outermost call goes on.
  if (pumping_ || broken_) return;
  const raised guard(pumping_);
  limited_ = false;
  pace_at_ = instant::never();
  if (!open_) open_ = c.below_is_writable();
  while (open_) {
    if (probe_waits_ && may_probe(c)) {
      probe_waits_ = false;
      if (!sent_.empty(sent_packets::in_flight))
        retransmit(sent_.front(sent_packets::in_flight), c);
    } else if (waits(pressure::urgent) && flight_ <= congestion_.window() + urgent_credit) {
      send_next(pressure::urgent, c);
    } else if (waits(pressure::ordinary) && c.below_is_writable()) {
      if (!may_send_ordinary(c.now())) {
        limited_ = true;
        break;
      }
      one_for_free_ = false;
      send_next(pressure::ordinary, c);
    } else {
      break;
    }
  }
}

void reliability::send_next(pressure p, layer_context& c) {
  const auto list = p == pressure::urgent ? sent_packets::lost_urgent : sent_packets::lost;
  if (!sent_.empty(list)) {
    retransmit(sent_.front(list), c);
    return;
  }
  std::deque<outgoing>& queue = queues_[static_cast<std::size_t>(p)];
  outgoing m = std::move(queue.front());
  queue.pop_front();
  if (p == pressure::ordinary) unsent_ -= m.bytes.size();
  const sequence_number s = sent_.next();
  packet bytes = m.bytes.share_front();
  sent_packet& kept = sent_.add(std::move(m.bytes), m.lane);
  kept.first = c.now();
  ++counters_.sent;
  transmit(s, std::move(bytes), c);
}

void reliability::retransmit(sequence_number s, layer_context& c) {
  sent_packet& p = sent_[s];
  if (p.list == sent_packets::in_flight) flight_ -= charge_of(p.bytes);
  sent_.move_to(s, sent_packets::in_flight);
  if (p.attempt != sent_packet::many_attempts) ++p.attempt;
  ++counters_.retransmitted;
  // L5: an earlier transmission of the packet may still wait below, or be on its way in this
  //     process. Then its bytes are copied.
  transmit(s, p.bytes.share_front(), c);
}

void reliability::transmit(sequence_number s, packet bytes, layer_context& c) {
  sent_packet& p = sent_[s];
  p.last = c.now();
  p.order = next_order_++;
  flight_ += charge_of(p.bytes);
  counters_.most_in_flight = std::max(counters_.most_in_flight, in_flight());
  if (pace_ != 0)
    paced_until_ =
        std::max(paced_until_, c.now() - burst_) +
        duration::nanoseconds(static_cast<std::int64_t>(charge_of(p.bytes)) * pace_ >> 10);
  const std::size_t room = c.largest_below();
  if (bytes.size() + header_size > room && room > header_size) {
    transmit_parts(s, bytes, room - header_size, c);
    return;
  }
  std::byte flags = reliability_header::with_packet;
  if (unacknowledged_ != 0 && !received_.has_gaps()) {
    encode(bytes.prepend(acknowledgement::fixed_size), take_acknowledgement(c.now()));
    flags |= reliability_header::with_acknowledgement;
  }
  std::byte* at = bytes.prepend(reliability_header::flags_size + reliability_header::packet_size);
  at[0] = flags;
  store_le(at + 1, s);
  store_le(at + 5, p.attempt);
  c.down({std::move(bytes), p.lane});
}

void reliability::transmit_parts(sequence_number s, const packet& bytes, std::size_t most,
                                 layer_context& c) {
  ++counters_.cut;
  const lane_number lane = sent_[s].lane;
  const std::uint8_t attempt = sent_[s].attempt;
  const std::size_t count = (bytes.size() + most - 1) / most;
  // The first part differs each time, so even a queue that always drops the last datagrams of a
  // burst lets all parts through in the end.
  const std::size_t first = (next_order_ * 0x9e3779b97f4a7c15u >> 32) % count;
  for (std::size_t i = 0; i != count && !broken_; ++i) {
    const std::size_t offset = (first + i) % count * most;
    const std::size_t size = std::min(most, bytes.size() - offset);
    packet part = packet::copy_of(bytes.bytes().subspan(offset, size), bytes.room_in_front());
    std::byte* at = part.prepend(reliability_header::flags_size + reliability_header::packet_size +
                                 reliability_header::part_size);
    at[0] = reliability_header::with_packet | reliability_header::with_part;
    store_le(at + 1, s);
    store_le(at + 5, attempt);
    store_le(at + 6, static_cast<std::uint16_t>(bytes.size()));
    store_le(at + 8, static_cast<std::uint16_t>(offset));
    c.down({std::move(part), lane});
  }
}

std::size_t reliability::largest(const layer_context& c) const noexcept {
  const std::size_t below = c.largest_below();
  return below > header_size ? std::min(below - header_size, largest_packet) : 0;
}

void reliability::forget_all() noexcept {
  broken_ = true;
  queues_ = {};
  parts_ = {};
  sent_ = {};
  packets_ = {};
  bytes_ = {};
  unsent_ = flight_ = 0;
  loss_at_ = pace_at_ = acknowledge_at_ = instant::never();
}

void reliability::give_up(const base::error& why, layer_context& c) {
  forget_all();
  c.close();
  c.notify({link_event::kind::down, 0, why});
}

// ---- acknowledgements of this end ---------------------------------------------------------------

acknowledgement reliability::take_acknowledgement(instant now) noexcept {
  unacknowledged_ = 0;
  acknowledge_at_ = instant::never();
  acknowledgement a;
  a.next = received_.next();
  a.newest = newest_;
  a.attempt = newest_attempt_;
  const std::int64_t delay = (now - newest_at_).count() / 1000;
  a.delay = static_cast<std::uint16_t>(std::clamp<std::int64_t>(delay, 0, 0xffff));
  if (received_.has_gaps()) a.range_count = static_cast<std::uint8_t>(received_.ranges(a.ranges));
  return a;
}

void reliability::send_acknowledgement(layer_context& c) {
  const acknowledgement a = take_acknowledgement(c.now());
  packet p = packet::with_room(c.headers_below(), reliability_header::flags_size + a.size());
  std::byte* at = p.append(reliability_header::flags_size + a.size());
  at[0] = reliability_header::with_acknowledgement;
  encode(at + 1, a);
  ++counters_.acknowledgements;
  c.down({std::move(p), layer_lane});
}

// ---- time and events ----------------------------------------------------------------------------

instant reliability::timeout_at() const noexcept {
  if (probe_waits_ || sent_.empty(sent_packets::in_flight)) return instant::never();
  return std::max(sent_.first_of(sent_packets::in_flight).last, progress_) + timeout_;
}

void reliability::time_out(layer_context& c) {
  ++counters_.timeouts;
  ++in_a_row_;
  progress_ = c.now();
  set_timeout();
  if (in_a_row_ == collapse_after) congestion_.collapse(next_order_, c.now());
  // The oldest transmission is sent again: its acknowledgement is newer than all others, and so
  // tells which of them are lost.
  probe_waits_ = true;
}

instant reliability::deadline() const noexcept {
  if (broken_) return instant::never();
  return std::min({loss_at_, pace_at_, acknowledge_at_, timeout_at()});
}

void reliability::advance(layer_context& c) {
  if (broken_) return;
  const instant now = c.now();
  if (loss_at_ <= now) find_losses(now);
  if (timeout_at() <= now) time_out(c);
  pump(c);
  make_room(c);
  if (acknowledge_at_ <= now) send_acknowledgement(c);
}

void reliability::notice(const link_event& e, layer_context& c) {
  using kind = link_event::kind;
  switch (e.what) {
    case kind::disconnected: open_ = false; break;
    case kind::down: forget_all(); break;
    case kind::connected:
    case kind::path: congestion_.packet_size(full_charge(c)); break;
    case kind::opened:
    case kind::resumed:
    case kind::trusted:
      // Packets that were sent while the peer received nothing are not waited for.
      in_a_row_ = 0;
      progress_ = c.now();
      set_timeout();
      probe_waits_ = !sent_.empty(sent_packets::in_flight);
      pump(c);
      c.notify(e);
      make_room(c);
      return;
    case kind::writable:
      // Not passed on: the layers above are told of the room here.
      pump(c);
      make_room(c);
      return;
    default: break;
  }
  c.notify(e);
}

}  // namespace garrick::net
