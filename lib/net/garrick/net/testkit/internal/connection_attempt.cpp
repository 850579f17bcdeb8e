#include "garrick/net/testkit/internal/connection_attempt.hpp"

#include <algorithm>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/testkit/internal/connection.hpp"

namespace garrick::net::testkit::internal {
namespace {

constexpr base::duration again_after = base::duration::milliseconds(250);

/// An attempt on its way.
struct attempt_state {
  engine* network;
  std::shared_ptr<stream_end> client;
  std::uint64_t number;
  base::instant until;

  [[nodiscard]] bool is_wanted() const { return client->wants(number); }
  [[nodiscard]] engine& net() const { return *network; }
  [[nodiscard]] host& here() const { return client->at(); }
  [[nodiscard]] host& there() const { return network->named(client->peer().host); }
};

void knock(const attempt_state& a);

void again(const attempt_state& a) {
  engine& net = a.net();
  if (net.now() + again_after > a.until) {
    net.at(a.until, [a] {
      if (a.is_wanted()) a.client->refused(a.number, net_errc::unreachable);
    });
    return;
  }
  net.at(net.now() + again_after, [a] {
    if (a.is_wanted()) knock(a);
  });
}

/// Takes the way from one host to the other, unless that is cut meanwhile. Returns the time of
/// arrival.
template <class Arrived>
base::instant pass(const attempt_state& a, host& from, host& to, Arrived arrived) {
  engine& net = a.net();
  way& w = net.way_of(from, to);
  const base::duration delay = w.settings.delay + w.up_to(w.settings.jitter);
  const bool lost = w.chance(w.settings.loss);
  const base::instant arrival = net.now() + delay;
  if (lost || w.cut || !to.has_power()) {
    again(a);
    return arrival;
  }
  net.at(arrival, [a, &w, &to, cuts = w.cuts, arrived] {
    if (!a.is_wanted()) return;
    if (w.cuts != cuts || !to.has_power()) return again(a);
    arrived();
  });
  return arrival;
}

/// Gives the connection to the server's end: the former end of this client, or a new one.
void accept(const stream_end& client, const std::shared_ptr<listening>& l, host& h,
            const std::shared_ptr<connection>& c) {
  std::shared_ptr<stream_end> e;
  if (l->resumes) e = std::static_pointer_cast<stream_end>(l->known[client.id()].lock());
  if (e && !e->is_dead() && e->upper() != nullptr) {
    c->accepted_by(e);
    e->join(c);
    return;
  }
  const address local{h.name(), client.peer().port};
  e = std::make_shared<stream_end>(h, local, client.local());
  h.enter(e);
  l->known[client.id()] = e;
  c->accepted_by(e);
  e->join(c);
  // The waiting call holds the end, since no other object does yet.
  h.when_running([e, l, &h] {
    if (l->over) return e->close();
    h.time().calling([&] { l->taken(e); });
  });
}

void answer(const attempt_state& a) {
  engine& net = a.net();
  host& there = a.there();
  const std::shared_ptr<listening> l = there.stream_listener(a.client->peer().port);
  if (!l) {
    net.past().add(net.now(), there.number(), a.here().number(), "refuses a stream");
    pass(a, there, a.here(), [a] { a.client->refused(a.number, net_errc::refused); });
    return;
  }
  const auto c = std::make_shared<connection>(net, a.client, there);
  net.enter(c);
  net.past().add(net.now(), there.number(), a.here().number(), "accepts a stream");
  accept(*a.client, l, there, c);
  c->begins_at(pass(a, there, a.here(), [a, c] {
    // The connection may have broken before its client knew of it.
    if (c->is_broken(0))
      a.client->refused(a.number,
                        base::make_error(net_errc::connection_lost, "it was lost at once"));
    else
      a.client->join(c, a.number);
  }));
}

void knock(const attempt_state& a) {
  if (!a.is_wanted()) return;
  engine& net = a.net();
  host& there = a.there();
  net.past().add(net.now(), a.here().number(), there.number(), "asks for a stream");
  pass(a, a.here(), there, [a] { answer(a); });
}

}  // namespace

stream_end::knocking knocking_in(engine& net) {
  return [&net](const std::shared_ptr<stream_end>& client, std::uint64_t attempt) {
    knock({&net, client, attempt, net.now() + net.settings().connect_timeout});
  };
}

}  // namespace garrick::net::testkit::internal
