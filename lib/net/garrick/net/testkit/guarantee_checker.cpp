#include "garrick/net/testkit/guarantee_checker.hpp"

#include <algorithm>

#include "garrick/net/little_endian.hpp"

namespace garrick::net::testkit {
namespace {

// The head of a message: flow, number, size and lane, which decide all bytes behind it.
constexpr std::size_t head = 4 + 4 + 4 + 1;

std::byte filler(std::size_t flow, lane_number lane, std::uint32_t number,
                 std::size_t at) noexcept {
  return static_cast<std::byte>((flow * 131 + lane * 31u + number * 7 + at * 3) & 0xff);
}

packet written(std::size_t flow, lane_number lane, std::uint32_t number, std::size_t size,
               std::size_t room) {
  packet p = packet::with_room(room, size);
  std::byte* to = p.append(size);
  store_le(to, static_cast<std::uint32_t>(flow));
  store_le(to + 4, number);
  store_le(to + 8, static_cast<std::uint32_t>(size));
  to[12] = static_cast<std::byte>(lane);
  for (std::size_t i = head; i != size; ++i) to[i] = filler(flow, lane, number, i);
  return p;
}

}  // namespace

// ---- guarantee_checker --------------------------------------------------------------------------

void guarantee_checker::found(std::string text) {
  if (violation_.empty()) violation_ = std::move(text);
}

std::string guarantee_checker::name_of(const flow& f, const message& m) const {
  return "message " + std::to_string(m.number) + " of lane " + std::to_string(m.lane) + " from " +
         f.sender;
}

void guarantee_checker::check_reports(const flow& f) {
  for (const message& m : f.messages) {
    if (m.reported == outcome::none) return found(name_of(f, m) + " was never reported");
    if (m.reported == outcome::unknown && !f.over)
      return found(name_of(f, m) + " was reported as unknown, and the link lives");
  }
}

void guarantee_checker::finish() {
  for (const flow& f : flows_) {
    if (f.vanished) continue;
    if (promise_.to_mailbox) check_reports(f);
    if (f.over || f.breaks != 0 || !promise_.gapless) continue;
    for (const message& m : f.messages)
      if (!m.in_mailbox) return found(name_of(f, m) + " was lost");
  }
}

// ---- checked_end --------------------------------------------------------------------------------

checked_end::checked_end(guarantee_checker& checker, std::string name)
    : checker_(checker), number_(++checker.ends_), own_(checker.flows_.size()) {
  checker_.flows_.emplace_back().sender = std::move(name);
}

checked_end::~checked_end() {
  flow& own = checker_.flows_[own_];
  if (!own.over) own.vanished = true;
  // Messages that wait for their mailboxes die with this end.
  listener_ = nullptr;
}

bool checked_end::is_down() const { return checker_.flows_[own_].over; }

bool checked_end::can_send() const {
  return connected_ && !is_down() && link_ != nullptr && link_->writable();
}

bool checked_end::send(lane_number lane, std::size_t size, base::instant now) {
  flow& own = checker_.flows_[own_];
  size = std::max(size, head);
  std::vector<std::size_t>& in_lane = own.lanes[lane];
  const auto number = static_cast<std::uint32_t>(in_lane.size());
  outgoing m{written(own_, lane, number, size, link_->header_size()), lane,
             own.messages.size() + 1};
  // The message may arrive, and be reported, before `send` returns.
  in_lane.push_back(own.messages.size());
  own.messages.push_back({lane, number, size});
  ++checker_.sent_;
  if (!link_->send(std::move(m), now)) return true;
  own.messages.pop_back();
  in_lane.pop_back();
  --checker_.sent_;
  return false;
}

bool checked_end::check(const incoming& m, flow*& from, message*& sent) {
  const auto wrong = [&](const std::string& what) {
    checker_.found(what);
    return false;
  };
  if (m.bytes.size() < head) return wrong("something came that was never sent");
  const std::size_t which = load_le<std::uint32_t>(m.bytes.data());
  const auto number = load_le<std::uint32_t>(m.bytes.data() + 4);
  const auto lane = static_cast<lane_number>(m.bytes[12]);
  if (which >= checker_.flows_.size()) return wrong("something came that was never sent");
  from = &checker_.flows_[which];
  const auto in_lane = from->lanes.find(lane);
  if (in_lane == from->lanes.end() || number >= in_lane->second.size())
    return wrong("something came that " + from->sender + " has never sent");
  sent = &from->messages[in_lane->second[number]];
  const std::string name = checker_.name_of(*from, *sent);
  if (m.bytes.size() != sent->size) return wrong(name + " came with another size");
  for (std::size_t i = head; i != m.bytes.size(); ++i)
    if (m.bytes[i] != filler(which, lane, number, i)) return wrong(name + " was altered");
  if (checker_.promise_.lanes && m.lane != lane)
    return wrong(name + " came in lane " + std::to_string(m.lane));
  if (checker_.promise_.sessions) {
    if (from_ != 0 && from_ != which + 1)
      return wrong(name + " came to a link that talks to another one");
    if (from->receiver != 0 && from->receiver != number_)
      return wrong(name + " came to another link than those before it");
  }
  from_ = which + 1;
  from->receiver = number_;
  return true;
}

void checked_end::check_order(flow& from, const message& m) {
  const promise& p = checker_.promise_;
  received& r = lanes_[{from_ - 1, m.lane}];
  const std::uint32_t breaks = breaks_ + from.breaks;
  const std::string name = checker_.name_of(from, m);
  if (p.ordered && m.number < r.next) checker_.found(name + " came after a later one");
  // Without sessions, a new end may get the rest of an older flow.
  const bool may_jump = r.any ? breaks != r.breaks : breaks != 0 || !p.sessions;
  if (p.gapless && m.number > r.next && (p.to_mailbox || !may_jump))
    checker_.found("a message sent before " + name + " is missing");
  r.next = std::max(r.next, m.number + 1);
  r.breaks = breaks;
  r.any = true;
}

bool checked_end::on_message(const incoming& m) {
  flow* from = nullptr;
  message* sent = nullptr;
  if (is_down()) checker_.found("a message came after the link went down");
  if (!check(m, from, sent)) return true;
  if (++sent->arrivals > 1 && checker_.promise_.once)
    checker_.found(checker_.name_of(*from, *sent) + " came twice");
  check_order(*from, *sent);
  const bool at_once = !mailbox_ || mailbox_(sent->lane);
  if (!at_once) {
    waiting_[sent->lane].push_back(sent);
    return false;
  }
  if (!std::exchange(sent->in_mailbox, true)) ++checker_.received_;
  return true;
}

void checked_end::into_mailbox(lane_number lane, base::instant now) {
  std::deque<message*>& all = waiting_[lane];
  if (all.empty()) return;
  if (!std::exchange(all.front()->in_mailbox, true)) ++checker_.received_;
  all.pop_front();
  link_->delivered(lane, now);
}

void checked_end::check_report(const link_event& e) {
  using outcome = guarantee_checker::outcome;
  flow& own = checker_.flows_[own_];
  if (e.number == 0 || e.number > own.messages.size())
    return checker_.found(own.sender + " got a report about nothing that it has sent");
  message& m = own.messages[e.number - 1];
  const std::string name = checker_.name_of(own, m);
  if (m.reported != outcome::none) checker_.found(name + " was reported twice");
  if (e.what == link_event::kind::unknown) {
    m.reported = outcome::unknown;
    ++checker_.unknown_;
    return;
  }
  m.reported = outcome::delivered;
  if (!m.in_mailbox) checker_.found(name + " was reported as delivered, and is in no mailbox");
}

void checked_end::on_event(const link_event& e) {
  using kind = link_event::kind;
  flow& own = checker_.flows_[own_];
  if (own.over) checker_.found(own.sender + " heard something after `down`");
  if (e.what == kind::connected || e.what == kind::opened || e.what == kind::resumed)
    connected_ = true;
  if (e.what == kind::disconnected) {
    connected_ = false;
    ++breaks_;
    ++own.breaks;
  }
  if (e.what == kind::delivered || e.what == kind::unknown) check_report(e);
  if (e.what == kind::down) own.over = true;
  if (listener_) listener_(e);
}

}  // namespace garrick::net::testkit
