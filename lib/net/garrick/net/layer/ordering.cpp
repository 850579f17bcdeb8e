#include "garrick/net/layer/ordering.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/reserved_lanes.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

using internal::is_reserved;

constexpr std::uint16_t half_the_range = 0x8000;
constexpr std::uint16_t remembered = 32;  // bits of lane_state::given_up

/// Returns the distance from `from` up to `to`, round the end of the range.
constexpr std::uint16_t distance(std::uint16_t from, std::uint16_t to) noexcept {
  return static_cast<std::uint16_t>(to - from);
}

}  // namespace

base::error ordering::check(const ordering_settings& s) {
  using internal::check_range;
  if (base::error e = check_range("ordering.bytes", s.bytes, 1)) return e;
  if (base::error e = internal::check_at_least("ordering.timeout", s.timeout, {})) return e;
  if (base::error e = check_range("ordering.window", s.window, 1, half_the_range - 1)) return e;
  return check_range("ordering.window_bytes", s.window_bytes, 1);
}

ordering::lane_state& ordering::state(lane_number lane) {
  std::unique_ptr<page>& p = pages_[lane / lanes_in_page];
  if (!p) p = std::make_unique<page>();
  return (*p)[lane % lanes_in_page];
}

ordering::waiting_lane* ordering::waiting(lane_number lane) noexcept {
  for (waiting_lane& w : waiting_)
    if (w.lane == lane) return &w;
  return nullptr;
}

std::uint64_t& ordering::bytes_held(lane_number lane) noexcept {
  return bytes_held_[is_reserved(lane) ? 1 : 0];
}

void ordering::send(outgoing&& m, layer_context& c) {
  lane_state& s = state(m.lane);
  std::byte* header = m.bytes.prepend(header_size);
  header[0] = static_cast<std::byte>(m.lane);
  store_le(header + 1, s.next_out++);
  c.down(std::move(m));
}

void ordering::receive(const incoming& m, layer_context& c) {
  if (ended_) return;
  if (m.bytes.size() < header_size) {
    ++counters_.malformed;
    return;
  }
  const auto number = load_le<std::uint16_t>(m.bytes.data() + 1);
  const incoming inner = m.with(m.bytes.subspan(header_size), static_cast<lane_number>(m.bytes[0]));
  lane_state& s = state(inner.lane);
  const std::uint16_t ahead = distance(s.next_in, number);
  if (ahead == 0) {
    take(s);
    static_cast<void>(c.up(inner));
    if (!waiting_.empty()) release(inner.lane, c);
  } else if (ahead >= half_the_range) {
    come_late(s, distance(number, s.next_in));
  } else {
    come_early(inner, number, c);
  }
}

/// Notes that the next number of the lane is on its way up.
void ordering::take(lane_state& s) noexcept {
  ++s.next_in;
  s.given_up <<= 1;
}

/// Gives up all numbers before this one.
void ordering::skip_to(lane_state& s, std::uint16_t number) noexcept {
  const std::uint16_t missing = distance(s.next_in, number);
  s.given_up = missing >= remembered ? ~std::uint32_t{0}
                                     : s.given_up << missing | ((std::uint32_t{1} << missing) - 1);
  s.next_in = number;
  counters_.given_up += missing;
}

/// Numbers older than the history count as late.
void ordering::come_late(lane_state& s, std::uint16_t behind) noexcept {
  if (behind > remembered) {
    ++counters_.late;
    return;
  }
  const std::uint32_t bit = std::uint32_t{1} << (behind - 1);
  ++((s.given_up & bit) != 0 ? counters_.late : counters_.duplicates);
  s.given_up &= ~bit;
}

void ordering::come_early(const incoming& m, std::uint16_t number, layer_context& c) {
  if (is_held(m.lane, number)) {
    ++counters_.duplicates;
    return;
  }
  lane_state& s = state(m.lane);
  if (c.below().reliable) {
    const std::uint64_t bytes = bytes_held(m.lane) + m.bytes.size() + overhead;
    if (distance(s.next_in, number) > settings_.window || bytes > settings_.window_bytes)
      end(c);
    else
      hold(m, number, c);
    return;
  }
  // Each turn gives up a gap, in this lane or in another one.
  while (!ended_ && distance(s.next_in, number) != 0 && !has_room(m.lane, m.bytes.size()))
    make_room(m.lane, number, c);
  if (ended_) return;
  if (s.next_in != number) {
    hold(m, number, c);
    return;
  }
  take(s);
  static_cast<void>(c.up(m));
  release(m.lane, c);
}

bool ordering::is_held(lane_number lane, std::uint16_t number) {
  const waiting_lane* w = waiting(lane);
  return w != nullptr && w->messages.contains(number);
}

bool ordering::has_room(lane_number lane, std::size_t bytes) noexcept {
  const waiting_lane* w = waiting(lane);
  return (w == nullptr ? 0 : w->messages.size()) < settings_.pending &&
         bytes_held(lane) + bytes + overhead <= settings_.bytes;
}

/// Gives up one gap so that there is more room for this message: in its own lane if that is full,
/// else in the lane where a message has waited longest. If this is the message's own lane, and the
/// message is before all held ones, the gap before the message itself is given up.
void ordering::make_room(lane_number lane, std::uint16_t number, layer_context& c) {
  ++counters_.released_for_room;
  const waiting_lane* const own = waiting(lane);
  const waiting_lane* chosen = own;
  if (own == nullptr || own->messages.size() < settings_.pending) {
    for (const waiting_lane& w : waiting_)
      if (is_reserved(w.lane) == is_reserved(lane) &&
          (chosen == nullptr || w.messages.oldest() < chosen->messages.oldest()))
        chosen = &w;
  }
  lane_state& s = state(lane);
  const bool is_first =
      own == nullptr || distance(s.next_in, number) < distance(s.next_in, own->messages.first());
  if (chosen == own && is_first)
    skip_to(s, number);
  else
    give_up(chosen->lane, c);
}

void ordering::hold(const incoming& m, std::uint16_t number, layer_context& c) {
  const base::instant since = c.below().reliable ? base::instant::never() : c.now();
  packet held = packet::copy_of(m.bytes);
  if (waiting_lane* w = waiting(m.lane)) {
    w->messages.add(number, std::move(held), since);
  } else {
    waiting_lane fresh{m.lane, {}};
    fresh.messages.add(number, std::move(held), since);
    waiting_.push_back(std::move(fresh));
    ++counters_.gaps;
  }
  ++counters_.held;
  counters_.held_bytes += m.bytes.size();
  bytes_held(m.lane) += m.bytes.size() + overhead;
  deadline_ = std::min(deadline_, since + settings_.timeout);
}

/// Gives up the gap before the first message that this lane holds. Requires that it holds one.
void ordering::give_up(lane_number lane, layer_context& c) {
  skip_to(state(lane), waiting(lane)->messages.first());
  release(lane, c);
}

packet ordering::take_front(waiting_lane& w) noexcept {
  packet bytes = w.messages.take_first();
  --counters_.held;
  counters_.held_bytes -= bytes.size();
  bytes_held(w.lane) -= bytes.size() + overhead;
  if (w.messages.size() == 0) {
    if (&w != &waiting_.back()) w = std::move(waiting_.back());
    waiting_.pop_back();
  }
  return bytes;
}

/// Passes up the held messages of this lane up to the next gap. Everything is looked up again after
/// each message, because the layers above may end the link meanwhile.
void ordering::release(lane_number lane, layer_context& c) {
  bool changed = false;
  for (waiting_lane* w = waiting(lane); w != nullptr; w = waiting(lane)) {
    lane_state& s = state(lane);
    if (w->messages.first() != s.next_in) break;
    const packet bytes = take_front(*w);
    take(s);
    changed = true;
    static_cast<void>(c.up({bytes.bytes(), lane}));
  }
  if (changed) find_deadline();
}

void ordering::release_all(layer_context& c) {
  while (!waiting_.empty()) give_up(waiting_.front().lane, c);
}

void ordering::find_deadline() noexcept {
  deadline_ = base::instant::never();
  for (const waiting_lane& w : waiting_)
    deadline_ = std::min(deadline_, w.messages.oldest() + settings_.timeout);
}

void ordering::advance(layer_context& c) {
  while (deadline_ <= c.now()) {
    const auto due = std::find_if(waiting_.begin(), waiting_.end(), [&](const waiting_lane& w) {
      return w.messages.oldest() + settings_.timeout <= c.now();
    });
    GARRICK_ASSERT(due != waiting_.end(), "the deadline belongs to a message that is held");
    ++counters_.released_by_time;
    give_up(due->lane, c);
  }
}

void ordering::notice(const link_event& e, layer_context& c) {
  if (e.what == link_event::kind::down) {
    if (!c.below().reliable) release_all(c);
    forget_held();
    ended_ = true;
  }
  c.notify(e);
}

void ordering::forget_held() noexcept {
  waiting_.clear();
  bytes_held_ = {};
  counters_.held = counters_.held_bytes = 0;
  deadline_ = base::instant::never();
}

void ordering::end(layer_context& c) {
  ended_ = true;
  forget_held();
  c.notify({link_event::kind::down, 0,
            base::make_error(net_errc::overload, "ordering",
                             "the peer has sent more beyond a missing message than its window "
                             "allows")});
  c.close();
}

}  // namespace garrick::net
