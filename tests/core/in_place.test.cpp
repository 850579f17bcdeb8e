// Running receivers in place: what a worker does when it floods an actor that nobody else can run.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace {

using namespace garrick;

constexpr std::uint32_t limit = 16;

using numbers = protocol<void(std::uint64_t)>;

/// What the last stage saw; read after the system's end.
struct seen {
  std::uint64_t count = 0;
  bool in_order = true;
  std::uint32_t longest = 0;
};

class sink : public actor<numbers> {
 public:
  explicit sink(seen* into) : into_(into) {}
  void on(std::uint64_t i) {
    into_->in_order = into_->in_order && i == into_->count;
    ++into_->count;
    into_->longest = std::max(into_->longest, mailbox_length());
  }

 private:
  seen* into_;
};

class forwarder : public actor<numbers> {
 public:
  explicit forwarder(ref<numbers> next) : next_(std::move(next)) {}
  void on(std::uint64_t i) { send(next_, i); }

 private:
  ref<numbers> next_;
};

struct flood {
  std::uint64_t messages;
};

class source : public actor<protocol<void(flood)>> {
 public:
  explicit source(ref<numbers> next) : next_(std::move(next)) {}
  void on(flood f) {
    for (std::uint64_t i = 0; i < f.messages; ++i) send(next_, i);
  }

 private:
  ref<numbers> next_;
};

/// The scheduler of the system that was built last.
sched::scheduler* workers_of_last = nullptr;

void remember_scheduler(settings& o) {
  o.make_scheduler = [](const sched::scheduler_settings& s) {
    auto made = sched::make_scheduler(s);
    workers_of_last = made.get();
    return made;
  };
}

seen run_pipeline(std::uint32_t workers, int forwarders, std::uint64_t messages,
                  sched::scheduler_stats* stats = nullptr) {
  settings o;
  o.scheduler.workers = workers;
  o.mailbox.soft_limit = limit;
  // a wait gives up at once: only running in place keeps the mailboxes short
  o.mailbox.full_wait = {};
  remember_scheduler(o);
  seen s;
  {
    actor_system system(o);
    ref<numbers> next = system.spawn<sink>(&s);
    for (int i = 0; i < forwarders; ++i) next = system.spawn<forwarder>(next);
    send(system.spawn<source>(std::exchange(next, {})), flood{messages});
    static_cast<void>(system.await_all());
    if (stats != nullptr) *stats = workers_of_last->stats();
  }
  return s;
}

}  // namespace

TEST_CASE(
    "in place: the only worker keeps every mailbox of a pipeline short while the source is in its "
    "handler") {
  for (const int forwarders : {0, 1, 2, 5}) {
    const seen s = run_pipeline(1, forwarders, 20'000);
    CHECK(s.count == 20'000);
    CHECK(s.in_order);
    CHECK(s.longest <= 8 * limit);
  }
}

TEST_CASE("in place: a pipeline on several workers loses nothing and keeps the order") {
  for (const std::uint32_t workers : {2U, 4U}) {
    const seen s = run_pipeline(workers, 3, 20'000);
    CHECK(s.count == 20'000);
    CHECK(s.in_order);
  }
}

namespace {

/// Makes many messages of one.
class sprinkler : public actor<numbers> {
 public:
  explicit sprinkler(ref<numbers> next) : next_(std::move(next)) {}
  void on(std::uint64_t i) {
    for (std::uint64_t k = 0; k < 8; ++k) send(next_, 8 * i + k);
  }

 private:
  ref<numbers> next_;
};

}  // namespace

TEST_CASE("in place: who makes many messages of one is stopped when its receiver is full") {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = limit;
  seen s;
  {
    actor_system system(o);
    send(system.spawn<source>(system.spawn<sprinkler>(system.spawn<sink>(&s))), flood{5'000});
    static_cast<void>(system.await_all());
  }
  CHECK(s.count == 40'000);
  CHECK(s.in_order);
  CHECK(s.longest <= 2 * limit);
}

TEST_CASE("in place: no worker is called for what the sender's worker runs anyway") {
  constexpr std::uint64_t messages = 200'000;
  for (const int forwarders : {1, 3}) {
    sched::scheduler_stats stats;
    CHECK(run_pipeline(2, forwarders, messages, &stats).count == messages);
    // a few from the start, and when another process takes a processor away
    CHECK(stats.wakes < messages / limit / 8);
  }
}

namespace {

struct serve {};
struct ping {};
struct pong {};
using opponent = protocol<void(pong), void(serve)>;

class ponger : public actor<protocol<void(ping)>> {
 public:
  explicit ponger(ref<opponent> other) : other_(std::move(other)) {}
  void on(ping) { send(other_, pong{}); }

 private:
  ref<opponent> other_;
};

class pinger : public actor<opponent> {
 public:
  explicit pinger(std::uint64_t trips) : left_(trips) {}
  void on(serve) {
    other_ = spawn<ponger>(self());
    send(other_, ping{});
  }
  void on(pong) {
    if (--left_ != 0)
      send(other_, ping{});
    else
      other_ = {};
  }

 private:
  std::uint64_t left_;
  ref<protocol<void(ping)>> other_;
};

}  // namespace

TEST_CASE("an actor whose budget ends with its last message is not queued again") {
  constexpr std::uint64_t trips = 10'000;
  settings o;
  o.scheduler.workers = 1;
  o.scheduler.quantum = 16;  // rounds of four messages: every other run of an actor ends one
  remember_scheduler(o);
  actor_system system(o);
  send(system.spawn<pinger>(trips), serve{});
  static_cast<void>(system.await_all());
  // The first actor may run once more before it is told to serve, and once more if this thread
  // drops its handle last.
  const std::uint64_t runs = workers_of_last->stats().runs;
  CHECK(runs > 2 * trips);
  CHECK(runs <= 2 * trips + 3);
}

namespace {

struct ball {
  std::uint32_t left;
};
using player = protocol<void(ball)>;

/// Answers every ball with two until they are used up: two actors that flood each other.
class doubling : public actor<protocol<void(ball), void(ref<player>)>> {
 public:
  explicit doubling(std::uint64_t* handled) : handled_(handled) {}
  void on(const ref<player>& other) { other_ = other; }
  void on(ball b) {
    ++*handled_;
    if (b.left == 0) return;
    send(other_, ball{b.left - 1});
    send(other_, ball{b.left - 1});
  }

 private:
  std::uint64_t* handled_;
  ref<player> other_;
};

}  // namespace

TEST_CASE("in place: two actors on one worker that flood each other come to an end") {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = limit;
  std::uint64_t handled[2] = {0, 0};
  {
    actor_system system(o);
    const auto a = system.spawn<doubling>(&handled[0]);
    const auto b = system.spawn<doubling>(&handled[1]);
    send(a, ref<player>(b));
    send(b, ref<player>(a));
    send(a, ball{14});
  }
  CHECK(handled[0] + handled[1] == (1U << 15) - 1);
}
