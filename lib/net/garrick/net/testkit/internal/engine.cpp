#include "garrick/net/testkit/internal/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace garrick::net::testkit::internal {

base::duration way::up_to(base::duration most) noexcept {
  // The number is always drawn, so that settings do not change later draws.
  const double part = random.unit();
  return base::duration::nanoseconds(
      static_cast<std::int64_t>(part * static_cast<double>(most.count())));
}

std::uint64_t way::waiting(base::instant now) const noexcept {
  if (settings.rate == 0 || free_at <= now) return 0;
  return static_cast<std::uint64_t>(static_cast<double>((free_at - now).count()) *
                                    static_cast<double>(settings.rate) / 1e9);
}

base::instant way::departure(base::instant now, std::size_t size) noexcept {
  if (settings.rate == 0) return now;
  const double ns = static_cast<double>(size) * 1e9 / static_cast<double>(settings.rate);
  free_at = std::max(free_at, now) + base::duration::nanoseconds(static_cast<std::int64_t>(ns));
  return free_at;
}

void check(const path_settings& s, const std::string& way) {
  const auto require = [&](bool holds, const char* name, const char* what) {
    if (!holds)
      throw std::invalid_argument("the way from " + way + ": path_settings::" + name + what);
  };
  const auto probability = [&](double p, const char* name) {
    require(p >= 0 && p <= 1, name, " is a probability, from 0 to 1");
  };
  const auto time = [&](base::duration d, const char* name) {
    require(d >= base::duration(), name, " is below zero");
  };
  probability(s.loss, "loss");
  probability(s.duplication, "duplication");
  probability(s.reordering, "reordering");
  time(s.delay, "delay");
  time(s.jitter, "jitter");
  time(s.late_by, "late_by");
}

const network_settings& checked(const network_settings& s) {
  check(s.path, "any host to another");
  const std::pair<base::duration, const char*> times[] = {{s.retransmission, "retransmission"},
                                                          {s.connect_timeout, "connect_timeout"},
                                                          {s.stream_timeout, "stream_timeout"}};
  for (const auto& [time, name] : times)
    if (time <= base::duration())
      throw std::invalid_argument(std::string("network_settings::") + name + " is not above zero");
  return s;
}

engine::engine(std::uint64_t seed, const network_settings& s,
               std::optional<garrick::testkit::test_world> world)
    : timeline(seed, checked(s), std::move(world)), random_(seed_for("the order of what is due")) {}

engine::~engine() {
  stop();
  for (const auto& h : hosts_) h->stop();
}

host& engine::named(std::string_view name) {
  for (const auto& h : hosts_)
    if (h->name() == name) return *h;
  past().name(name);
  return *hosts_.emplace_back(
      std::make_unique<host>(*this, std::string(name), static_cast<std::uint32_t>(hosts_.size())));
}

way& engine::way_of(const host& from, const host& to) {
  const auto key = std::pair(from.number(), to.number());
  const auto at = ways_.find(key);
  if (at != ways_.end()) return at->second;
  const std::uint64_t seed = seed_for("from " + from.name() + " to " + to.name());
  return ways_.try_emplace(key, seed, settings().path).first->second;
}

void engine::check_ways() const {
  for (const auto& [key, w] : ways_)
    check(w.settings, hosts_[key.first]->name() + " to " + hosts_[key.second]->name());
}

engine::due engine::all_due() const {
  due first;
  const auto consider = [&first](base::instant when, host* h, end* e) {
    if (when.is_never() || when > first.when) return;
    if (when < first.when) first = {when, {}};
    first.who.emplace_back(h, e);
  };
  const base::instant present = now();
  for (const auto& each : hosts_) {
    host& h = *each;
    if (!h.is_up() || h.is_paused()) continue;
    consider(std::max(present, h.clock().time_of(h.clock().first_deadline())), &h, nullptr);
    for (const std::shared_ptr<end>& e : h.ends())
      if (e->upper() != nullptr)
        consider(std::max(present, h.clock().time_of(e->upper()->deadline())), &h, e.get());
  }
  return first;
}

void engine::call_due() {
  const due d = all_due();
  // The seed decides the order of simultaneous deadlines.
  const auto& [h, e] = d.who[random_.below(static_cast<std::uint32_t>(d.who.size()))];
  if (e == nullptr) {
    past().count(now(), h->number());
    calling([clock = &h->clock()] { clock->fire_first(); });
    return;
  }
  past().add(now(), h->number(), h->number(), "deadline of port", e->local().port);
  const std::shared_ptr<end> held = e->shared_from_this();
  held->call([](carried& upper, base::instant local) { upper.advance(local); });
}

void engine::set_cut(host& from, host& to, bool cut) {
  way& w = way_of(from, to);
  if (w.cut == cut) return;
  w.cut = cut;
  if (cut) ++w.cuts;
  past().add(now(), from.number(), to.number(), cut ? "is cut" : "is whole again");
  for (const auto& c : streams()) c->way_changed(from, to);
}

std::vector<std::shared_ptr<stream>> engine::streams() {
  std::vector<std::shared_ptr<stream>> all;
  std::erase_if(streams_, [&all](const std::weak_ptr<stream>& c) {
    if (auto held = c.lock(); held && !held->is_over()) {
      all.push_back(std::move(held));
      return false;
    }
    return true;
  });
  return all;
}

std::vector<std::shared_ptr<stream>> engine::streams_between(std::string_view a,
                                                             std::string_view b) {
  const host& one = named(a);
  const host& other = named(b);
  std::vector<std::shared_ptr<stream>> all = streams();
  std::erase_if(all, [&](const std::shared_ptr<stream>& s) {
    return !(s->is_at(0, one) && s->is_at(1, other)) && !(s->is_at(0, other) && s->is_at(1, one));
  });
  return all;
}

void engine::crash(host& h, crash_kind what) {
  if (!h.is_up()) return;
  h.lose_power_of(what);
  for (const auto& s : streams()) s->host_crashed(h);
  h.crash();
}

void engine::restart(host& h) {
  if (h.is_up()) return;
  h.gets_power();
  for (const auto& s : streams()) s->host_restarted(h);
  h.restart();
}

}  // namespace garrick::net::testkit::internal
