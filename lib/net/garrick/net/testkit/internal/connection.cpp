#include "garrick/net/testkit/internal/connection.hpp"

#include <algorithm>
#include <utility>

#include "garrick/net/error.hpp"

namespace garrick::net::testkit::internal {
namespace {

/// Returns the size of the next segment: all bytes, few, or any number.
std::size_t piece_of(std::size_t all, base::random_source& random) {
  constexpr std::uint32_t usual = 1460;
  const std::uint32_t kind = random.below(8);
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(all, usual));
  if (kind < 2) return all;
  return 1 + random.below(kind == 2 ? std::min(most, 8u) : most);
}

}  // namespace

connection::connection(engine& net, const std::shared_ptr<stream_end>& client, host& server)
    : net_(net) {
  sides_[0].place = &client->at();
  sides_[0].holder = client;
  sides_[1].place = &server;
}

way& connection::way_from(std::uint32_t s) const {
  return net().way_of(*sides_[s].place, *sides_[1 - s].place);
}

bool connection::is_blocked(std::uint32_t s) const {
  return stalled_ || way_from(s).cut || !sides_[1 - s].place->has_power();
}

void connection::tell(std::uint32_t s, const char* what, std::uint64_t number,
                      std::uint64_t size) const {
  net().past().add(net().now(), sides_[s].place->number(), sides_[1 - s].place->number(), what,
                   number, size);
}

std::uint32_t connection::side_of(const stream_end& e) const noexcept {
  return sides_[0].holder.lock().get() == &e ? 0 : 1;
}

// ---- from taken to received ---------------------------------------------------------------------

void connection::send(std::uint32_t s, std::span<const std::byte> b) {
  half& from = sides_[s];
  if (from.broken || from.finished) return;
  from.taken += b.size();
  from.waiting.insert(from.waiting.end(), b.begin(), b.end());
  pump_soon(s);
}

bool connection::takes_more(std::uint32_t s) const {
  return sides_[s].taken - sides_[s].acknowledged < net().settings().send_buffer;
}

void connection::finish(std::uint32_t s) {
  sides_[s].finished = true;
  pump_soon(s);
}

void connection::pump_soon(std::uint32_t s) {
  // `pump` follows the instant's other events: bytes that are sent together may fly together.
  if (std::exchange(sides_[s].pump_is_due, true)) return;
  net().at(net().now(), [self = shared_from_this(), s] { self->pump(s); });
}

void connection::pump(std::uint32_t s) {
  half& from = sides_[s];
  from.pump_is_due = false;
  if (from.broken) return;
  if (is_blocked(s)) return watch(s);
  const bytes all = std::exchange(from.waiting, {});
  for (std::size_t at = 0; at != all.size();) {
    const std::size_t n = piece_of(all.size() - at, way_from(s).random);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    depart(s, {bytes(begin, begin + static_cast<std::ptrdiff_t>(n)), {}, 0, false});
    at += n;
  }
  if (from.finished && !std::exchange(from.finish_sent, true)) depart(s, {{}, {}, 0, true});
  if (is_blocked(1 - s)) watch(s);
}

void connection::depart(std::uint32_t s, segment one) {
  constexpr int most_losses = 5;
  half& from = sides_[s];
  way& w = way_from(s);
  one.number = ++net().sent;
  base::instant arrival =
      w.departure(net().now(), one.content.size()) + w.settings.delay + w.up_to(w.settings.jitter);
  int losses = 0;
  while (losses < most_losses && w.chance(w.settings.loss)) ++losses;
  arrival = arrival + net().settings().retransmission * losses;
  one.arrival = from.last_arrival = std::max(from.last_arrival, arrival);
  tell(s,
       one.last      ? "closes the stream"
       : losses != 0 ? "sent, lost, sent again"
                     : "segment sent",
       one.number, one.content.size());
  const base::instant when = one.arrival;
  from.flying.push_back(std::move(one));
  net().at(when,
           [self = shared_from_this(), s, before = from.fall_backs] { self->arrive(s, before); });
}

void connection::arrive(std::uint32_t s, std::uint64_t fall_backs) {
  half& from = sides_[s];
  if (fall_backs != from.fall_backs) return;
  from.come.push_back(std::move(from.flying.front()));
  from.flying.pop_front();
  receive_soon(1 - s);
}

void connection::receive_soon(std::uint32_t side) {
  sides_[side].place->when_running(
      [self = shared_from_this(), from = 1 - side] { self->take(from); });
}

void connection::take(std::uint32_t s) {
  half& from = sides_[s];
  while (!from.come.empty()) {
    const std::shared_ptr<stream_end> e = sides_[1 - s].holder.lock();
    if (!e || !e->has(this)) {
      from.come.clear();
      tell(1 - s, "has no such stream");
      return say_gone(s, "the other end is gone");
    }
    if (!e->takes_bytes(this)) return;
    const segment one = std::move(from.come.front());
    from.come.pop_front();
    if (one.last)
      return e->lose(this, base::make_error(net_errc::connection_lost, "the other end closed it"));
    if (one.content.empty()) continue;
    tell(s, "segment received", one.number, one.content.size());
    from.received += one.content.size();
    net().lend(one.content, [&](std::span<const std::byte> lent) { e->received(this, lent); });
    acknowledge(s);
  }
}

void connection::acknowledge(std::uint32_t s) {
  if (is_blocked(1 - s)) return;
  way& back = way_from(1 - s);
  net().at(net().now() + back.settings.delay,
           [self = shared_from_this(), s, &back, cuts = back.cuts, count = sides_[s].received] {
             half& from = self->sides_[s];
             if (back.cuts != cuts || count <= from.acknowledged) return;
             const bool was_full = !self->takes_more(s);
             from.acknowledged = count;
             const std::shared_ptr<stream_end> e = from.holder.lock();
             if (!was_full || !self->takes_more(s) || !e || !e->has(self.get())) return;
             e->later(self->net().now(),
                      [](carried& upper, base::instant now) { upper.carrier_writable(now); });
           });
}

// ---- faults -------------------------------------------------------------------------------------

void connection::fall_back(std::uint32_t s) {
  half& from = sides_[s];
  ++from.fall_backs;
  bytes all;
  for (segment& one : from.flying) {
    all.insert(all.end(), one.content.begin(), one.content.end());
    if (one.last) from.finish_sent = false;
  }
  from.flying.clear();
  if (from.broken) return;
  all.insert(all.end(), from.waiting.begin(), from.waiting.end());
  from.waiting = std::move(all);
}

void connection::watch(std::uint32_t s) {
  half& from = sides_[s];
  const auto is_stuck = [](const connection& c, std::uint32_t of) {
    return c.sides_[of].taken != c.sides_[of].acknowledged &&
           (c.is_blocked(of) || c.is_blocked(1 - of));
  };
  if (from.is_watched || from.broken || !is_stuck(*this, s)) return;
  from.is_watched = true;
  net().at(net().now() + net().settings().stream_timeout,
           [self = shared_from_this(), s, is_stuck, before = from.acknowledged] {
             half& now = self->sides_[s];
             now.is_watched = false;
             if (is_stuck(*self, s) && now.acknowledged == before)
               self->forget(s, "nothing was acknowledged for too long");
             else
               self->watch(s);
           });
}

void connection::lose_at(base::instant when, std::uint32_t s, const char* why) {
  net().at(when, [self = shared_from_this(), s, why] {
    self->tell(s, "loses a stream");
    if (const auto e = self->sides_[s].holder.lock())
      e->lose(self.get(), base::make_error(net_errc::connection_lost, why));
  });
}

void connection::say_gone(std::uint32_t s, const char* why) {
  const auto e = sides_[s].holder.lock();
  if (!e || !e->has(this)) return;
  if (!is_blocked(1 - s)) return lose_at(net().now() + way_from(1 - s).settings.delay, s, why);
  net().at(net().now() + net().settings().retransmission,
           [self = shared_from_this(), s, why] { self->say_gone(s, why); });
}

void connection::forget(std::uint32_t s, const char* why) {
  sides_[s].broken = true;
  sides_[s].waiting.clear();
  tell(s, "loses a stream");
  if (const auto e = sides_[s].holder.lock())
    e->lose(this, base::make_error(net_errc::connection_lost, why));
}

void connection::stall() {
  if (std::exchange(stalled_, true)) return;
  tell(0, "stream carries nothing any more");
  for (const std::uint32_t s : {0u, 1u}) {
    fall_back(s);
    watch(s);
  }
}

void connection::break_off(std::uint32_t s, base::instant at_the_earliest, const char* why) {
  half& from = sides_[s];
  if (from.broken) return;
  from.broken = true;
  from.waiting.clear();
  std::uint64_t all = 0;
  for (const segment& one : from.flying) all += one.content.size();
  std::uint64_t left = way_from(s).random() % (all + 1);
  base::instant when = at_the_earliest;
  for (segment& one : from.flying) {
    const std::uint64_t kept = std::min<std::uint64_t>(left, one.content.size());
    if (kept != 0) when = std::max(when, one.arrival);
    one.content.resize(kept);
    one.last = false;
    left -= kept;
  }
  lose_at(when, 1 - s, why);
}

void connection::reset() {
  tell(0, "stream is reset");
  const char* const why = "the stream was reset";
  for (const std::uint32_t s : {0u, 1u}) {
    if (sides_[s].broken)
      lose_at(net().now(), 1 - s, why);  // only this side has lost the stream so far
    else
      break_off(s, net().now(), why);
  }
}

void connection::way_changed(const host& from, const host& to) {
  for (const std::uint32_t s : {0u, 1u}) {
    if (!is_at(s, from) || !is_at(1 - s, to)) continue;
    if (way_from(s).cut) {
      fall_back(s);
      watch(s);
      watch(1 - s);
      continue;
    }
    const base::instant when = net().now() + net().settings().retransmission;
    net().at(when, [self = shared_from_this(), s] {
      self->pump(s);
      self->acknowledge(1 - s);
    });
  }
}

void connection::host_crashed(const host& h) {
  for (const std::uint32_t s : {0u, 1u}) {
    if (!is_at(s, h)) continue;
    half& own = sides_[s];
    sides_[1 - s].come.clear();
    const bool peer_hears = h.has_power() && !is_blocked(s);
    if (peer_hears) {
      break_off(s, net().now() + way_from(s).settings.delay, "the other process is gone");
      continue;
    }
    own.broken = true;
    own.waiting.clear();
    if (h.has_power()) {
      say_gone(1 - s, "the other process is gone");
      continue;
    }
    fall_back(1 - s);
    watch(1 - s);
  }
}

void connection::host_restarted(const host& h) {
  // The machine does not know the stream, and tells that to a side that has sent bytes.
  for (const std::uint32_t s : {0u, 1u})
    if (is_at(1 - s, h) && sides_[s].taken != sides_[s].acknowledged)
      say_gone(s, "the other machine was restarted");
}

}  // namespace garrick::net::testkit::internal
