#include <garrick/base/platform/platform.hpp>
#include <garrick/base/values/random.hpp>
#include <garrick/garrick.hpp>
#include <garrick/machine/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "simulator/calibration/calibrate.hpp"

using namespace garrick;
using namespace garrick::machine;

namespace bench::simulator {

namespace {

using garrick::machine::message;

double now_ns() noexcept { return static_cast<double>(base::platform::monotonic_ns()); }

constexpr int trials = 15;
constexpr double unknown = std::numeric_limits<double>::max();

template <class Run>
void on_one_worker(const Run& run) {
  settings o;
  o.scheduler.workers = 1;
  actor_system system(o);
  run(system);
  static_cast<void>(system.await_all());
}

// ---- a burst from one actor to another: the sender's part and the receiver's --------------------

constexpr std::uint32_t burst = 400;  // below the soft limit of a mailbox

struct begin {};
struct tick {};
using starter = protocol<void(begin)>;
using ticks = protocol<void(tick)>;

struct burst_times {
  double send = unknown;
  double receive = unknown;
  double sent_at = 0;
};

class burst_receiver : public actor<ticks> {
 public:
  explicit burst_receiver(burst_times* times) : times_(times) {}
  void on(tick) {
    if (++seen_ % burst == 0)
      times_->receive = std::min(times_->receive, (now_ns() - times_->sent_at) / burst);
  }

 private:
  burst_times* times_;
  std::uint32_t seen_ = 0;
};

class burst_sender : public actor<starter> {
 public:
  burst_sender(ref<ticks> to, burst_times* times) : to_(std::move(to)), times_(times) {}
  void on(begin) {
    const double started = now_ns();
    for (std::uint32_t i = 0; i < burst; ++i) send(to_, tick{});
    times_->sent_at = now_ns();
    times_->send = std::min(times_->send, (times_->sent_at - started) / burst);
  }

 private:
  ref<ticks> to_;
  burst_times* times_;
};

burst_times measure_burst() {
  burst_times times;
  on_one_worker([&](actor_system& system) {
    const auto from =
        system.spawn<burst_sender>(system.spawn<burst_receiver>(lent(&times)), lent(&times));
    for (int i = 0; i < 8 * trials; ++i) send(from, begin{});
  });
  return times;
}

// ---- a stream: as a burst, but longer than a mailbox --------------------------------------------

constexpr std::uint32_t stream = 20'000;

class stream_receiver : public actor<ticks> {
 public:
  explicit stream_receiver(double* each) : each_(each), started_(now_ns()) {}
  void on(tick) {
    if (++seen_ % stream != 0) return;
    *each_ = std::min(*each_, (now_ns() - started_) / stream);
    started_ = now_ns();
  }

 private:
  double* each_;
  double started_;
  std::uint32_t seen_ = 0;
};
class stream_sender : public actor<starter> {
 public:
  explicit stream_sender(ref<ticks> to) : to_(std::move(to)) {}
  void on(begin) {
    for (std::uint32_t i = 0; i < stream * trials; ++i) send(to_, tick{});
  }

 private:
  ref<ticks> to_;
};

double measure_stream() {
  double each = unknown;
  on_one_worker([&](actor_system& system) {
    send(system.spawn<stream_sender>(system.spawn<stream_receiver>(lent(&each))), begin{});
  });
  return each;
}

// ---- one message that goes from actor to actor --------------------------------------------------

constexpr std::uint32_t hops = 10'000;
constexpr std::uint32_t many = 256;

struct all_members;
using member = protocol<void(tick), void(all_members)>;
struct all_members {
  std::vector<ref<member>> list;
};

/// The common data of the walk's stations; each touches it alone while the message is there.
struct walk {
  double hop = unknown;
  double started = 0;
  std::uint32_t seen = 0;
};

/// Sends it on to a member at random: caches and predictions work as in an ordinary program.
class station : public actor<member> {
 public:
  explicit station(walk* w) : walk_(w) {}
  void on(const all_members& m) { members_ = m.list; }
  void on(tick) {
    if (++walk_->seen % hops == 0) {
      if (walk_->started != 0)
        walk_->hop = std::min(walk_->hop, (now_ns() - walk_->started) / hops);
      walk_->started = now_ns();
    }
    if (walk_->seen < hops * trials)
      send(members_[random_.below(static_cast<std::uint32_t>(members_.size()))], tick{});
    else
      // they let go of each other and end
      for (const auto& one : members_) send(one, all_members{});
  }

 private:
  std::vector<ref<member>> members_;
  walk* walk_;
  base::random_source random_{reinterpret_cast<std::uintptr_t>(this)};
};

/// From one of `size` to another one at random; with two, back and forth.
double measure_hop(std::uint32_t size) {
  walk w;
  on_one_worker([&](actor_system& system) {
    all_members all;
    for (std::uint32_t i = 0; i < size; ++i) all.list.push_back(system.spawn<station>(lent(&w)));
    for (std::uint32_t i = 0; i < size; ++i) {
      all_members others = all;
      others.list.erase(others.list.begin() + i);
      send(all.list[i], std::move(others));
    }
    send(all.list[0], tick{});
  });
  return w.hop;
}

struct model_station final : model_actor {
  std::vector<model_station*> others;
  void on(turn& t, const message& m) override {
    if (m.value != 0)
      t.send(*others[t.random().below(static_cast<std::uint32_t>(others.size()))], m.value - 1);
  }
};

double simulated_hop(const costs& c, std::uint32_t size) {
  simulation s({.prices = c});
  std::vector<model_station*> all;
  for (std::uint32_t i = 0; i < size; ++i) all.push_back(&s.spawn<model_station>());
  for (model_station* one : all)
    std::copy_if(all.begin(), all.end(), std::back_inserter(one->others),
                 [one](const auto* other) { return other != one; });
  s.outside([&](outside& o) { o.send(*all[0], hops); });
  const outcome o = s.run();
  return o.busy_seconds * 1e9 / hops;
}

// ---- an actor that makes another one, gets its answer and ends ----------------------------------

constexpr std::uint32_t line_length = 16;
constexpr std::uint32_t lines = 250;

struct begin_line {
  std::uint32_t left;
};
using parent = protocol<void(tick)>;
using descendant = protocol<void(begin_line), void(tick)>;

class one_of_line : public actor<descendant> {
 public:
  explicit one_of_line(ref<parent> above) : above_(std::move(above)) {}
  void on(begin_line b) {
    if (b.left == 0)
      send(above_, tick{});
    else
      send(spawn<one_of_line>(self()), begin_line{b.left - 1});
  }
  void on(tick) { send(above_, tick{}); }

 private:
  ref<parent> above_;
};

class line_maker : public actor<parent> {
 public:
  explicit line_maker(double* birth) : birth_(birth) {}
  void on(tick) {
    if (made_ % lines == 0) {
      if (made_ != 0) *birth_ = std::min(*birth_, (now_ns() - started_) / (lines * line_length));
      started_ = now_ns();
    }
    if (made_++ < lines * trials) send(spawn<one_of_line>(self()), begin_line{line_length - 1});
  }

 private:
  double* birth_;
  double started_ = 0;
  std::uint32_t made_ = 0;
};

double measure_birth() {
  double birth = unknown;
  on_one_worker(
      [&](actor_system& system) { send(system.spawn<line_maker>(lent(&birth)), tick{}); });
  return birth;
}

struct model_descendant final : model_actor {
  model_actor* above = nullptr;
  std::uint32_t made = 0;
  void on(turn& t, const message& m) override {
    if (above == nullptr) {
      if (made++ < lines) begin(t, line_length);
    } else if (m.from != above || m.value == 1) {
      t.send(*above, 1);
    } else {
      begin(t, m.value);
    }
  }
  void begin(turn& t, std::uint64_t value) {
    auto& next = t.spawn<model_descendant>();
    next.above = this;
    t.send(next, value - (above == nullptr ? 0 : 1));
  }
};

double simulated_birth(const costs& c) {
  simulation s({.prices = c});
  auto& one = s.spawn<model_descendant>();
  s.outside([&](outside& o) { o.send(one, 0); });
  const outcome o = s.run();
  return o.busy_seconds * 1e9 / (lines * line_length);
}

struct model_source final : model_actor {
  model_actor* to = nullptr;
  void on(turn& t, const message& m) override {
    if (m.from == nullptr)
      for (std::uint32_t i = 0; i < stream; ++i) t.send(*to, 0);
  }
};

double simulated_stream(const costs& c) {
  simulation s({.prices = c});
  auto& from = s.spawn<model_source>();
  from.to = &s.spawn<model_source>();
  s.outside([&](outside& o) { o.send(from, 0); });
  const outcome o = s.run();
  return o.busy_seconds * 1e9 / stream;
}

/// Sets the price so that the simulation takes `measured`, which grows with it in proportion.
template <class Simulated>
void solve(costs& c, double costs::* price, double measured, const Simulated& simulated) {
  constexpr double step = 100;
  c.*price = 0;
  const double without = simulated(c);
  c.*price = step;
  const double with = simulated(c);
  c.*price = std::max(0.0, (measured - without) / (with - without) * step);
}

}  // namespace

void measure_actors(actor_times& times) {
  const burst_times found = measure_burst();
  times.burst_send = std::min(times.burst_send, found.send);
  times.burst_receive = std::min(times.burst_receive, found.receive);
  times.stream = std::min(times.stream, measure_stream());
  times.hop_of_two = std::min(times.hop_of_two, measure_hop(2));
  times.hop_of_many = std::min(times.hop_of_many, measure_hop(many));
  times.birth = std::min(times.birth, measure_birth());
}

void derive_actor_prices(costs& c, const actor_times& times) {
  c.send = c.receive = c.run = c.cold = c.spawn = 0;
  const double message = std::max(0.0, times.stream - simulated_stream(c));
  const double sender = std::max(0.0, times.burst_send - c.locked);
  c.send = message * sender / (sender + times.burst_receive);
  c.receive = message - c.send;
  solve(c, &costs::run, times.hop_of_two, [](const costs& with) { return simulated_hop(with, 2); });
  solve(c, &costs::cold, times.hop_of_many,
        [](const costs& with) { return simulated_hop(with, many); });
  solve(c, &costs::spawn, times.birth, simulated_birth);
}

}  // namespace bench::simulator
