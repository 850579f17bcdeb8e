// The exchange of counts between the two ends of redelivery: at the beginning of a connection, and
// by acknowledgements.
#include <algorithm>
#include <array>
#include <utility>

#include "garrick/net/layer/internal/redelivery_lane.hpp"
#include "garrick/net/layer/redelivery.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {

using base::instant;

namespace {

constexpr std::byte begin_kind{1};
constexpr std::byte ack_kind{2};
// The limits in a `begin`, behind its kind: two windows, each in messages and in bytes.
constexpr std::size_t limits_size = 2 * (4 + 8);
constexpr std::size_t begin_entry = 1 + 8 + 8;
constexpr std::size_t ack_entry = 1 + 8;

template <class T>
void put(packet& to, T number) {
  store_le(to.append(sizeof(T)), number);
}

}  // namespace

/// The counts of one lane, as the other end tells them.
struct redelivery::entry {
  lane_number lane;
  std::uint64_t received;  // only in `begin`
  std::uint64_t delivered;
};

/// The entries of a message of the other end. Their counts are not checked yet.
class redelivery::entries {
 public:
  entries(std::span<const std::byte> bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  [[nodiscard]] bool valid() const {
    if (bytes_.size() % size_ != 0) return false;
    for (std::size_t i = 0; i != count(); ++i)
      if ((*this)[i].lane == layer_lane) return false;
    return true;
  }
  [[nodiscard]] std::size_t count() const { return bytes_.size() / size_; }
  [[nodiscard]] entry operator[](std::size_t i) const {
    const std::byte* at = bytes_.data() + i * size_;
    const auto first = load_le<std::uint64_t>(at + 1);
    return {static_cast<lane_number>(*at), first,
            size_ == begin_entry ? load_le<std::uint64_t>(at + 9) : first};
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t size_;
};

// -- Counts that are told -----------------------------------------------------

void redelivery::send_ack(layer_context& c) {
  ack_at_ = instant::never();
  // A later acknowledgement tells the same counts, and messages that cannot be sent must not pile
  // up.
  ack_due_ = !c.below_is_writable();
  if (ack_due_) return;
  unacked_ = {};
  const std::size_t most = std::max(largest(c), 1 + ack_entry);
  packet p;
  for (const lane_number n : used_) {
    lane_state& l = *lanes_[n];
    if (l.told == l.delivered) continue;
    if (p.size() + ack_entry > most) send_own(std::exchange(p, {}), c);
    if (over_ || !open_) return;
    if (p.empty()) {
      p = packet::with_room(header_size + c.headers_below(), most < 64 ? most : 64);
      *p.append(1) = ack_kind;
    }
    l.told = l.delivered;
    put(p, n);
    put(p, l.told);
  }
  if (!p.empty()) send_own(std::move(p), c);
}

void redelivery::send_own(packet body, layer_context& c) {
  ++counters_.acks_sent;
  if (!c.below().lanes) *body.prepend(header_size) = static_cast<std::byte>(layer_lane);
  c.down({std::move(body), layer_lane});
}

void redelivery::begin(layer_context& c) {
  open_ = true;
  begun_ = false;
  waits_for_counts_ = streams_ && ever_handed_;
  ack_at_ = instant::never();
  ack_due_ = false;
  unacked_ = {};
  packet p = packet::with_room(header_size + c.headers_below(), 1 + limits_size);
  *p.append(1) = begin_kind;
  put(p, settings_.messages);
  put(p, settings_.bytes);
  put(p, settings_.accepted_messages);
  put(p, settings_.accepted_bytes);
  for (const lane_number n : used_) {
    lane_state& l = *lanes_[n];
    if (l.received == 0) continue;
    l.told = l.delivered;
    put(p, n);
    put(p, l.received);
    put(p, l.delivered);
  }
  send_own(std::move(p), c);
}

// -- Counts that arrive ------------------------------------------------------

void redelivery::on_counts(std::span<const std::byte> bytes, layer_context& c) {
  if (bytes.empty()) return violated("an empty message", c);
  if (bytes[0] == begin_kind) return on_begin(bytes.subspan(1), c);
  if (bytes[0] == ack_kind) return on_ack(bytes.subspan(1), c);
  violated("a message of no known kind", c);
}

void redelivery::on_begin(std::span<const std::byte> body, layer_context& c) {
  if (begun_) return violated("two beginnings of one connection", c);
  if (body.size() < limits_size) return violated("a beginning that is not whole", c);
  const std::byte* at = body.data();
  const amount window{load_le<std::uint32_t>(at), load_le<std::uint64_t>(at + 4)};
  const amount accepts{load_le<std::uint32_t>(at + 12), load_le<std::uint64_t>(at + 16)};
  if (window.messages == 0 || window.bytes == 0 || accepts.messages == 0 || accepts.bytes == 0)
    return violated("an empty window", c);
  const entries told(body.subspan(limits_size), begin_entry);
  if (!told.valid() || (!streams_ && told.count() != 0))
    return violated("a beginning with a wrong list of lanes", c);
  begun_ = true;
  taken_there_ = accepts;
  window_[0] = smaller({settings_.messages, settings_.bytes}, accepts);
  learn_limits(window);
  if (!apply_counts(told)) return violated("counts that cannot be", c);
  for (std::size_t i = 0; i != told.count() && !over_; ++i)
    acknowledge(told[i].lane, told[i].delivered, c);
  if (over_) return;
  if (std::exchange(waits_for_counts_, false)) {
    for (const lane_number n : used_) lanes_[n]->next = lanes_[n]->known_there;
    recount();
  }
  check_room(c);
  pump(c);
}

bool redelivery::apply_counts(const entries& told) {
  std::array<bool, 255> named{};
  for (std::size_t i = 0; i != told.count(); ++i) {
    const entry e = told[i];
    if (!lanes_[e.lane] || std::exchange(named[e.lane], true)) return false;
    lane_state& l = *lanes_[e.lane];
    if (e.delivered > e.received || e.delivered < l.acked) return false;
    if (e.received > l.handed || e.received < l.known_there) return false;
    l.known_there = e.received;
  }
  // A lane that is not named has received nothing there.
  return std::all_of(used_.begin(), used_.end(), [&](lane_number n) {
    return named[n] || (lanes_[n]->known_there == 0 && lanes_[n]->acked == 0);
  });
}

void redelivery::on_ack(std::span<const std::byte> body, layer_context& c) {
  const entries told(body, ack_entry);
  if (!begun_ || !told.valid() || told.count() == 0)
    return violated("an acknowledgement with a wrong list of lanes", c);
  ++counters_.acks_received;
  for (std::size_t i = 0; i != told.count() && !over_; ++i) {
    const entry e = told[i];
    if (!lanes_[e.lane] || e.delivered > lanes_[e.lane]->next ||
        e.delivered < lanes_[e.lane]->acked)
      return violated("an acknowledgement of messages that were not sent", c);
    acknowledge(e.lane, e.delivered, c);
  }
  if (over_) return;
  check_room(c);
  pump(c);
}

void redelivery::acknowledge(lane_number n, std::uint64_t count, layer_context& c) {
  lane_state& l = *lanes_[n];
  while (l.acked < count && !over_) {
    const std::uint32_t size = l.out.front().size;
    const std::size_t which = class_of(n, size);
    const std::uint64_t report = l.out.front().report;
    if (l.out.front().copy != nullptr) l.copies.pop(size);
    l.out.pop_front();
    if (l.acked++ < l.next) {
      take(in_flight_[which], size);
    } else {
      ++l.next;
      --held_;
    }
    l.known_there = std::max(l.known_there, l.acked);
    take(kept_[which], size);
    ++counters_.confirmed;
    if (report != 0) c.notify({link_event::kind::delivered, report});
  }
}

void redelivery::check_room(layer_context& c) {
  if (!writable(c)) {
    blocked_ = true;
  } else if (std::exchange(blocked_, false)) {
    c.notify({link_event::kind::writable});
  }
}

}  // namespace garrick::net
