#include <garrick/base/platform.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/machine/calibrate.hpp>
#include <garrick/testkit/machine/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace garrick::testkit::machine {

namespace {

double now_ns() noexcept { return static_cast<double>(base::platform::monotonic_ns()); }

constexpr double unknown = std::numeric_limits<double>::max();

template <class Run>
void on_one_worker(const Run& run) {
  options o;
  o.workers = 1;
  actor_system system(o);
  run(system);
  static_cast<void>(system.await_all());
}

// ---- a burst from one actor to another: the sender's part and the receiver's ---------------------------------------------------------------------

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
    if (++seen_ % burst == 0) times_->receive = std::min(times_->receive, (now_ns() - times_->sent_at) / burst);
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
    const auto from = system.spawn<burst_sender>(system.spawn<burst_receiver>(&times), &times);
    for (int i = 0; i < 300; ++i) send(from, begin{});
  });
  return times;
}

// ---- a message that goes to and fro --------------------------------------------------------------------------------------------------------------

constexpr std::uint32_t hops = 4'000;
constexpr int ping_pong_trials = 40;

using player = protocol<void(tick)>;
using opponent = protocol<void(begin), void(tick)>;

class ponger : public actor<player> {
 public:
  explicit ponger(ref<opponent> other) : other_(std::move(other)) {}
  void on(tick) { send(other_, tick{}); }

 private:
  ref<opponent> other_;
};

class pinger : public actor<opponent> {
 public:
  explicit pinger(double* hop) : hop_(hop) {}
  void on(begin) {
    other_ = spawn<ponger>(self());
    started_ = now_ns();
    send(other_, tick{});
  }
  void on(tick) {
    if (++trips_ * 2 % hops == 0) {
      *hop_ = std::min(*hop_, (now_ns() - started_) / hops);
      started_ = now_ns();
    }
    if (trips_ * 2 < hops * ping_pong_trials)
      send(other_, tick{});
    else
      other_ = {};
  }

 private:
  ref<player> other_;
  double* hop_;
  double started_ = 0;
  std::uint32_t trips_ = 0;
};

double measure_hop() {
  double hop = unknown;
  on_one_worker([&](actor_system& system) { send(system.spawn<pinger>(&hop), begin{}); });
  return hop;
}

struct model_player final : model_actor {
  void on(turn& t, const message& m) override {
    if (m.value != 0) t.send(*other, m.value - 1);
  }
  model_actor* other = nullptr;
};

double simulated_hop(const costs& c) {
  simulation s({.prices = c});
  auto& a = s.spawn<model_player>();
  auto& b = s.spawn<model_player>();
  a.other = &b;
  b.other = &a;
  s.outside([&](outside& o) { o.send(a, hops); });
  const outcome o = s.run();
  return o.busy_seconds * 1e9 / hops;
}

// ---- an actor that gets one message and ends ------------------------------------------------------------------------------------------------------

constexpr std::uint32_t children = 200;

struct birth_times {
  double child = unknown;
  double started_at = 0;
  std::uint32_t left = 0;
};

class child : public actor<ticks> {
 public:
  explicit child(birth_times* times) : times_(times) {}
  void on(tick) {
    if (--times_->left == 0) times_->child = std::min(times_->child, (now_ns() - times_->started_at) / children);
  }

 private:
  birth_times* times_;
};

class parent : public actor<starter> {
 public:
  explicit parent(birth_times* times) : times_(times) {}
  void on(begin) {
    times_->left = children;
    times_->started_at = now_ns();
    for (std::uint32_t i = 0; i < children; ++i) send(spawn<child>(times_), tick{});
  }

 private:
  birth_times* times_;
};

double measure_birth() {
  birth_times times;
  on_one_worker([&](actor_system& system) {
    const auto one = system.spawn<parent>(&times);
    for (int i = 0; i < 300; ++i) send(one, begin{});
  });
  return times.child;
}

struct model_parent final : model_actor {
  void on(turn& t, const message& m) override {
    if (m.from != nullptr) return;
    for (std::uint32_t i = 0; i < children; ++i) t.send(t.spawn<model_parent>(), 0);
  }
};

double simulated_birth(const costs& c) {
  simulation s({.prices = c});
  auto& one = s.spawn<model_parent>();
  s.outside([&](outside& o) { o.send(one, 0); });
  const outcome o = s.run();
  return o.busy_seconds * 1e9 / children;
}

}  // namespace

void measure_actors(costs& c) {
  const burst_times times = measure_burst();
  c.send = std::max(0.0, times.send - c.locked);
  c.receive = times.receive;
  c.run = 0;
  c.spawn = 0;
  c.run = std::max(0.0, measure_hop() - simulated_hop(c));
  c.spawn = std::max(0.0, measure_birth() - simulated_birth(c));
}

}  // namespace garrick::testkit::machine
