#include "garrick/net/testkit/internal/datagram_end.hpp"

#include <algorithm>
#include <utility>

namespace garrick::net::testkit::internal {
namespace {

/// A datagram between its departure and its arrival.
struct datagram {
  engine* net;
  host* from;
  host* to;
  address sender;
  std::uint16_t port;
  std::shared_ptr<const bytes> content;
  std::uint64_t number;
  std::uint64_t cuts;  ///< the way's cuts at the departure
};

void tell(const datagram& d, const char* what) {
  engine& net = *d.net;
  net.past().add(net.now(), d.from->number(), d.to->number(), what, d.number, d.content->size());
}

/// Hands a datagram to its end, or to the acceptor; runs in the process.
void take(const datagram& d) {
  std::shared_ptr<end> e = d.to->datagram_end(d.port, d.sender);
  if (!e) {
    const std::shared_ptr<listening> l = d.to->datagram_listener(d.port);
    if (!l) return tell(d, "no socket receives");
    e = std::make_shared<datagram_end>(*d.net, *d.to, address{d.to->name(), d.port}, d.sender);
    d.to->enter(e);
    d.net->calling([&] { l->taken(e); });
  }
  if (e->is_dead() || e->upper() == nullptr) return tell(d, "no stack receives");
  if (!e->is_open()) {
    // The end gets `connected` first, which is in the queue.
    d.net->at(d.net->now(), [d] { d.to->when_running([d] { take(d); }); });
    return;
  }
  tell(d, "arrived");
  d.net->lend(*d.content, [&](std::span<const std::byte> lent) {
    e->call([lent](carried& upper, base::instant now) { upper.receive(lent, now); });
  });
}

void arrive(const datagram& d) {
  const way& w = d.net->way_of(*d.from, *d.to);
  if (w.cut || w.cuts != d.cuts) return tell(d, "cut off");
  if (!d.to->has_power()) return tell(d, "no socket receives");
  if (d.to->is_paused() &&
      d.to->kept_bytes() + d.content->size() > d.net->settings().receive_buffer)
    return tell(d, "lost before the paused process");
  d.to->when_running([d] { take(d); }, d.content->size());
}

void depart(const datagram& d, way& w) {
  engine& net = *d.net;
  const path_settings& s = w.settings;
  // All numbers are drawn for each datagram, so that later draws do not depend on settings.
  const bool lost = w.chance(s.loss);
  const bool twice = w.chance(s.duplication);
  const bool overtaken = w.chance(s.reordering);
  const base::duration jitter = w.up_to(s.jitter);
  const base::duration late = w.up_to(s.late_by);
  if (d.content->size() > s.largest) return tell(d, "too large for the way:");
  if (w.cut) return tell(d, "cut off");
  if (s.rate != 0 && w.waiting(net.now()) + d.content->size() > s.queue)
    return tell(d, "queue full for");
  const base::instant departure = w.departure(net.now(), d.content->size());
  if (lost) return tell(d, "lost");
  base::instant arrival = departure + s.delay + jitter;
  if (overtaken) {
    tell(d, "may be overtaken:");
    arrival = arrival + late;
  } else {
    arrival = w.last_arrival = std::max(w.last_arrival, arrival);
  }
  tell(d, "sent");
  net.at(arrival, [d] { arrive(d); });
  if (!twice) return;
  tell(d, "sent twice:");
  net.at(arrival + late, [d] { arrive(d); });
}

}  // namespace

void datagram_end::started() {
  later(net_.now(), [this](carried& upper, base::instant now) {
    open_ = true;
    upper.connected(now);
  });
}

void datagram_end::transmit(packet p) {
  if (!is_open()) return;
  host& to = net_.named(peer().host);
  const std::span<const std::byte> b = p.bytes();
  way& w = net_.way_of(at(), to);
  depart({&net_, &at(), &to, local(), peer().port,
          std::make_shared<const bytes>(b.begin(), b.end()), ++net_.sent, w.cuts},
         w);
  net_.changed();
}

std::size_t datagram_end::largest() const {
  return is_dead() ? 0 : net_.settings().largest_datagram;
}

}  // namespace garrick::net::testkit::internal
