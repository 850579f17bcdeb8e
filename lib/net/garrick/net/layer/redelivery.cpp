#include "garrick/net/layer/redelivery.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/redelivery_lane.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"

namespace garrick::net {
namespace {

using base::instant;

// Parts of the protocol: the limits of the messages under way before the other end has told its
// own, and the limits of the system's lane.
constexpr detail::message_amount first_window{256, 1u << 20};
constexpr detail::message_amount system_window{1024, 1u << 20};

}  // namespace

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

void redelivery::learn_limits(const amount& theirs) {
  const amount ours = smaller(theirs, {settings_.accepted_messages, settings_.accepted_bytes});
  const amount half{std::max<std::uint64_t>(ours.messages / 2, 1),
                    std::max<std::uint64_t>(std::min(ours.bytes, system_window.bytes) / 2, 1)};
  tell_at_ = {std::min<std::uint64_t>(settings_.ack_every, half.messages), half.bytes};
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
  // Over datagrams this layer never sends a message again.
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
  // On a link with room the newest message is the only one held, so no lane has to be searched.
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

// -- Receiving ----------------------------------------------------------------

void redelivery::receive(const incoming& m, layer_context& c) {
  if (over_ || !open_) return;
  if (c.below().lanes) return on_message(m, c);
  if (m.bytes.empty()) return violated("a message without a lane", c);
  on_message(m.with(m.bytes.subspan(header_size), static_cast<lane_number>(m.bytes[0])), c);
}

void redelivery::on_message(const incoming& m, layer_context& c) {
  if (m.lane != layer_lane) [[likely]]
    return on_data(m, c);
  on_counts(m.bytes, c);
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
  // During `up` the owner may have reported the message as delivered, or the link may have ended.
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

void redelivery::ack_if_due(layer_context& c) {
  if (unacked_.messages == 0 || !open_) return;
  if (!below(unacked_, tell_at_)) {
    send_ack(c);
  } else if (ack_at_.is_never() && !ack_due_) {
    ack_at_ = c.now() + settings_.ack_after;
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
