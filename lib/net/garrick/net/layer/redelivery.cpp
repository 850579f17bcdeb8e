#include "garrick/net/layer/redelivery.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/kept_bytes.hpp"
#include "garrick/net/layer/internal/pooled.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

using base::instant;

constexpr std::byte begin_kind{1};
constexpr std::byte ack_kind{2};
// Of `begin`, behind its kind: two windows of messages and bytes.
constexpr std::size_t limits_size = 2 * (4 + 8);
constexpr std::size_t begin_entry = 1 + 8 + 8;
constexpr std::size_t ack_entry = 1 + 8;

// Parts of the protocol: how much may be under way before the other end has told its limits, and
// how much of the system's lane.
constexpr detail::message_amount first_window{256, 1u << 20};
constexpr detail::message_amount system_window{1024, 1u << 20};

detail::message_amount sum_of(const detail::message_amount& a, const detail::message_amount& b) {
  return {a.messages + b.messages, a.bytes + b.bytes};
}

detail::message_amount smaller(const detail::message_amount& a, const detail::message_amount& b) {
  return {std::min(a.messages, b.messages), std::min(a.bytes, b.bytes)};
}

void add(detail::message_amount& to, std::uint64_t size) {
  ++to.messages;
  to.bytes += size;
}
void take(detail::message_amount& from, std::uint64_t size) {
  --from.messages;
  from.bytes -= size;
}

template <class T>
void put(packet& to, T number) {
  store_le(to.append(sizeof(T)), number);
}

}  // namespace

struct redelivery::kept_message {
  packet bytes;                     // until it went down; a large one over streams always
  const std::byte* copy = nullptr;  // in `copies`: a small one over streams that went down
  std::uint32_t size = 0;
  std::uint64_t report = 0;
};

struct redelivery::lane_state {
  struct arrival {
    std::uint32_t size = 0;
    bool there = false;  // in the mailbox
  };
  internal::pooled_deque<kept_message> out;
  internal::kept_bytes copies;
  std::uint64_t acked = 0;
  std::uint64_t next = 0;
  std::uint64_t handed = 0;       // that many went down at least once
  std::uint64_t known_there = 0;  // that many the other end has said to have
  internal::pooled_deque<arrival> waiting;
  std::uint64_t received = 0;
  std::uint64_t delivered = 0;
  std::uint64_t told = 0;  // of `delivered`
  std::size_t place = 0;   // in used_
  [[nodiscard]] std::uint64_t end() const noexcept { return acked + out.size(); }
};

/// What the other end says about one lane.
struct redelivery::entry {
  lane_number lane;
  std::uint64_t received;  // only in `begin`
  std::uint64_t delivered;
};

/// The entries of a message, of which nothing is believed yet.
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

base::error redelivery::check(const redelivery_settings& s) {
  using internal::check_range;
  if (base::error e = check_range("reconnect.messages", s.messages, 1)) return e;
  if (base::error e = check_range("reconnect.bytes", s.bytes, 1)) return e;
  if (base::error e = check_range("reconnect.large_bytes", s.large_bytes, 1)) return e;
  if (base::error e = check_range("reconnect.system_messages", s.system_messages, 1)) return e;
  if (base::error e = check_range("reconnect.accepted_messages", s.accepted_messages, 1)) return e;
  if (base::error e = check_range("reconnect.accepted_bytes", s.accepted_bytes, 1)) return e;
  if (base::error e = check_range("reconnect.ack_every", s.ack_every, 1)) return e;
  return internal::check_at_least("reconnect.ack_after", s.ack_after, {});
}

redelivery::redelivery(redelivery_settings s) : settings_(s) {
  GARRICK_ASSERT(!check(s), "`check` says which setting is wrong");
  taken_there_ = first_window;
  window_ = {smaller({s.messages, s.bytes}, first_window), system_window,
             amount{s.messages, s.bytes}};
  accepted_ = {amount{std::max<std::uint64_t>(s.accepted_messages, first_window.messages),
                      std::max<std::uint64_t>(s.accepted_bytes, first_window.bytes)},
               system_window};
  learn_limits(first_window);
}
redelivery::redelivery(redelivery&&) noexcept = default;
redelivery& redelivery::operator=(redelivery&&) noexcept = default;
redelivery::~redelivery() = default;

// -- Limits -------------------------------------------------------------------

bool redelivery::writable(const layer_context&) const {
  return !over_ && below(kept_[0], window_[0]) &&
         sum_of(kept_[0], kept_[2]).messages < window_[0].messages &&
         kept_[2].bytes < settings_.large_bytes;
}

std::size_t redelivery::largest(const layer_context& c) const {
  const std::size_t header = c.below().lanes ? 0 : header_size;
  const std::size_t all = c.largest_below();
  return all > header ? all - header : 0;
}

void redelivery::check_room(layer_context& c) {
  if (!writable(c)) {
    blocked_ = true;
  } else if (std::exchange(blocked_, false)) {
    c.notify({link_event::kind::writable});
  }
}

redelivery::lane_state& redelivery::lane(lane_number n) {
  std::unique_ptr<lane_state>& state = lanes_[n];
  if (!state) {
    state = std::make_unique<lane_state>();
    state->place = used_.size();
    used_.push_back(n);
  }
  return *state;
}

// -- Sending ------------------------------------------------------------------

void redelivery::send(outgoing&& m, layer_context& c) {
  if (over_) {  // sent in the call that has ended the session
    if (m.report != 0)
      c.notify({link_event::kind::unknown, m.report,
                base::make_error(net_errc::peer_down, "the session has ended before it was sent")});
    return;
  }
  GARRICK_ASSERT(m.lane != layer_lane, "this lane belongs to the layer");
  const auto size = static_cast<std::uint32_t>(m.bytes.size());
  const std::size_t which = class_of(m.lane, size);
  lane(m.lane).out.push_back({std::move(m.bytes), nullptr, size, m.report});
  add(kept_[which], size);
  ++held_;
  if (which == 1 && kept_[1].messages > settings_.system_messages)
    return end(base::make_error(net_errc::overload, "reconnect",
                                "too many messages of the system's lane are not acknowledged"),
               c);
  pump(c, m.lane);
  if (!over_ && !writable(c)) blocked_ = true;
}

bool redelivery::may_hand_down(lane_number n, const layer_context& c) {
  const lane_state& l = *lanes_[n];
  if (l.next == l.end()) return false;
  const std::size_t which = class_of(n, l.out[static_cast<std::size_t>(l.next - l.acked)].size);
  if (!below(in_flight_[which], window_[which])) return false;
  return which == 1 ||
         (below(sum_of(in_flight_[0], in_flight_[2]), taken_there_) && c.below_is_writable());
}

packet redelivery::to_hand_down(lane_state& l, kept_message& m, const layer_context& c) const {
  if (m.copy != nullptr)  // again
    return packet::copy_of({m.copy, m.size}, header_size + c.headers_below());
  if (streams_ && m.size > internal::kept_bytes::largest) return m.bytes.share_front();
  // Over datagrams nothing is ever sent again from here.
  if (streams_) m.copy = l.copies.push(m.bytes.bytes());
  return std::move(m.bytes);
}

void redelivery::hand_down(lane_number n, layer_context& c) {
  lane_state& l = *lanes_[n];
  kept_message& m = l.out[static_cast<std::size_t>(l.next - l.acked)];
  packet bytes = to_hand_down(l, m, c);
  if (l.next < l.handed) ++counters_.sent_again;
  l.handed = std::max(l.handed, ++l.next);
  ever_handed_ = true;
  --held_;
  add(in_flight_[class_of(n, m.size)], m.size);
  if (!c.below().lanes) *bytes.prepend(header_size) = static_cast<std::byte>(n);
  c.down({std::move(bytes), n});
}

void redelivery::pump(layer_context& c, lane_number newest) {
  if (pumping_ || held_ == 0) return;
  struct end_of_pumping {
    bool& flag;
    ~end_of_pumping() { flag = false; }
  };
  const end_of_pumping guard{pumping_ = true};
  const auto ready = [&] { return held_ != 0 && open_ && !waits_for_counts_ && !over_; };
  // On a link with room a message goes alone, and no lane has to be looked for.
  if (held_ == 1 && newest != layer_lane && ready() && may_hand_down(newest, c)) {
    if (newest != system_lane) turn_ = lanes_[newest]->place;
    hand_down(newest, c);
  }
  while (ready() && lanes_[system_lane] && may_hand_down(system_lane, c)) hand_down(system_lane, c);
  for (std::size_t idle = 0; ready() && idle < used_.size();) {
    turn_ = (turn_ + 1) % used_.size();
    const lane_number n = used_[turn_];
    ++idle;
    if (n == system_lane || !may_hand_down(n, c)) continue;
    hand_down(n, c);
    idle = 0;
  }
}

void redelivery::recount() {
  in_flight_ = {};
  held_ = 0;
  for (const lane_number n : used_) {
    const lane_state& l = *lanes_[n];
    const auto under_way = static_cast<std::size_t>(l.next - l.acked);
    for (std::size_t i = 0; i != under_way; ++i)
      add(in_flight_[class_of(n, l.out[i].size)], l.out[i].size);
    held_ += l.out.size() - under_way;
  }
}

// -- What arrives -------------------------------------------------------------

void redelivery::receive(const incoming& m, layer_context& c) {
  if (over_ || !open_) return;
  if (c.below().lanes) return on_message(m, c);
  if (m.bytes.empty()) return violated("a message without a lane", c);
  on_message(m.with(m.bytes.subspan(header_size), static_cast<lane_number>(m.bytes[0])), c);
}

void redelivery::on_message(const incoming& m, layer_context& c) {
  if (m.lane != layer_lane) [[likely]]
    return on_data(m, c);
  if (m.bytes.empty()) return violated("an empty message", c);
  if (m.bytes[0] == begin_kind) return on_begin(m.bytes.subspan(1), c);
  if (m.bytes[0] == ack_kind) return on_ack(m.bytes.subspan(1), c);
  violated("a message of no known kind", c);
}

void redelivery::on_data(const incoming& m, layer_context& c) {
  const std::size_t which = receiving_class_of(m.lane);
  if (!below(undelivered_[which], accepted_[which]))
    return violated("more than this end takes was sent", c);
  const auto size = static_cast<std::uint32_t>(m.bytes.size());
  lane_state& l = lane(m.lane);
  const std::uint64_t number = l.received++;
  l.waiting.emplace_back(size);
  add(undelivered_[which], size);
  const bool there = c.up(m);
  // Meanwhile the owner may have said that it is there, and this may be over.
  if (!there || over_ || number < l.delivered) return;
  l.waiting[static_cast<std::size_t>(number - l.delivered)].there = true;
  settle(m.lane, c);
}

void redelivery::delivered(lane_number n, layer_context& c) {
  if (over_) return;
  GARRICK_ASSERT(n != layer_lane && lanes_[n], "nothing was received in this lane");
  lane_state& l = *lanes_[n];
  const auto first = std::find_if(l.waiting.begin(), l.waiting.end(),
                                  [](const lane_state::arrival& a) { return !a.there; });
  GARRICK_ASSERT(first != l.waiting.end(), "every message of this lane is in its mailbox already");
  first->there = true;
  settle(n, c);
}

void redelivery::settle(lane_number n, layer_context& c) {
  lane_state& l = *lanes_[n];
  while (!l.waiting.empty() && l.waiting.front().there) {
    const std::uint32_t size = l.waiting.front().size;
    l.waiting.pop_front();
    ++l.delivered;
    take(undelivered_[receiving_class_of(n)], size);
    add(unacked_, size);
  }
  ack_if_due(c);
}

// -- Counts that are told -----------------------------------------------------

void redelivery::learn_limits(const amount& theirs) {
  const amount ours = smaller(theirs, {settings_.accepted_messages, settings_.accepted_bytes});
  const amount half{std::max<std::uint64_t>(ours.messages / 2, 1),
                    std::max<std::uint64_t>(std::min(ours.bytes, system_window.bytes) / 2, 1)};
  tell_at_ = {std::min<std::uint64_t>(settings_.ack_every, half.messages), half.bytes};
}

void redelivery::ack_if_due(layer_context& c) {
  if (unacked_.messages == 0 || !open_) return;
  if (!below(unacked_, tell_at_)) {
    send_ack(c);
  } else if (ack_at_.is_never() && !ack_due_) {
    ack_at_ = c.now() + settings_.ack_after;
  }
}

void redelivery::send_ack(layer_context& c) {
  ack_at_ = instant::never();
  // One later tells the same, and what cannot be sent must not pile up.
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

// -- Counts that are heard ----------------------------------------------------

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
      return violated("an acknowledgement of what was not sent", c);
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

// -- Events, time, the end ----------------------------------------------------

void redelivery::notice(const link_event& e, layer_context& c) {
  if (over_) return;
  switch (e.what) {
    case link_event::kind::opened:
    case link_event::kind::resumed:
      streams_ = c.below().connected;
      begin(c);
      c.notify(e);
      return pump(c);
    case link_event::kind::disconnected:
      open_ = false;
      ack_at_ = instant::never();
      return c.notify(e);
    case link_event::kind::writable:
      if (ack_due_ && open_) send_ack(c);
      return pump(c);
    case link_event::kind::down: report_unknown(e.why, c); return c.notify(e);
    default: return c.notify(e);
  }
}

instant redelivery::deadline() const noexcept { return over_ ? instant::never() : ack_at_; }

void redelivery::advance(layer_context& c) {
  if (!over_ && open_ && ack_at_ <= c.now()) send_ack(c);
}

void redelivery::leave(layer_context& c) {
  if (over_) return;
  if (open_ && unacked_.messages != 0) send_ack(c);
  report_unknown(base::make_error(net_errc::peer_down, "reconnect", "this end has left"), c);
}

void redelivery::report_unknown(const base::error& why, layer_context& c) {
  over_ = true;
  open_ = false;
  const base::error perhaps =
      base::make_error(net_errc::perhaps_delivered,
                       why.detail().empty() ? why.to_string() : std::string(why.detail()));
  const base::error never_sent = base::make_error(net_errc::peer_down, "reconnect", "never sent");
  for (const lane_number n : used_) {
    lane_state& l = *lanes_[n];
    for (std::uint64_t number = l.acked; !l.out.empty(); ++number) {
      const std::uint64_t report = l.out.front().report;
      l.out.pop_front();
      if (report != 0)
        c.notify({link_event::kind::unknown, report, number < l.handed ? perhaps : never_sent});
    }
    l.copies.clear();
  }
  kept_ = in_flight_ = {};
  held_ = 0;
}

void redelivery::end(const base::error& why, layer_context& c) {
  c.close();
  report_unknown(why, c);
  c.notify({link_event::kind::down, 0, why});
}

void redelivery::violated(std::string_view how, layer_context& c) {
  end(base::make_error(net_errc::decode_failed, "reconnect", how), c);
}

}  // namespace garrick::net
