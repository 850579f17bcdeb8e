// Running receivers in place: a worker floods an actor that no other worker can run.
#include <doctest/doctest.h>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/turn/running_cell.hpp>
#include <garrick/garrick.hpp>
#include <garrick/sched/shipped_policies.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace in_place_test {

namespace {

using namespace garrick;

constexpr std::uint32_t limit = 16;

using numbers = protocol<void(std::uint64_t)>;

/// The counts of the last stage; read after the system's end.
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
    ref<numbers> next = system.spawn<sink>(lent(&s));
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

TEST_CASE(
    "in place: an actor that makes many messages of one is stopped when its receiver is full") {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = limit;
  seen s;
  {
    actor_system system(o);
    send(system.spawn<source>(system.spawn<sprinkler>(system.spawn<sink>(lent(&s)))), flood{5'000});
    static_cast<void>(system.await_all());
  }
  CHECK(s.count == 40'000);
  CHECK(s.in_order);
  CHECK(s.longest <= 2 * limit);
}

TEST_CASE("in place: no worker is called for actors that the sender's worker runs anyway") {
  constexpr std::uint64_t messages = 200'000;
  for (const int forwarders : {1, 3}) {
    // a few from the start, and when another process takes a processor away; otherwise one a batch
    constexpr std::uint64_t few = messages / limit / 2;
    std::uint64_t fewest = messages;
    // A busy machine makes more of them, now and then as many as an error would: but not each time.
    for (int round = 0; round < 5 && fewest >= few; ++round) {
      sched::scheduler_stats stats;
      CHECK(run_pipeline(2, forwarders, messages, &stats).count == messages);
      fewest = std::min<std::uint64_t>(fewest, stats.wakes);
    }
    CHECK(fewest < few);
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

TEST_CASE("an actor that ends its budget with its last message is not queued again") {
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
    const auto a = system.spawn<doubling>(lent(&handled[0]));
    const auto b = system.spawn<doubling>(lent(&handled[1]));
    send(a, ref<player>(b));
    send(b, ref<player>(a));
    send(a, ball{14});
  }
  CHECK(handled[0] + handled[1] == (1U << 15) - 1);
}

namespace {

/// The number of messages that the last stage got while the source was in its handler; for one
/// worker.
struct overlap {
  bool in_handler = false;
  std::uint32_t seen = 0;
};

class last_stage : public actor<numbers> {
 public:
  explicit last_stage(overlap* both) : both_(both) {}
  void on(std::uint64_t) { both_->seen += both_->in_handler ? 1 : 0; }

 private:
  overlap* both_;
};

class noting_source : public actor<protocol<void(flood)>> {
 public:
  noting_source(ref<numbers> next, overlap* both) : next_(std::move(next)), both_(both) {}
  void on(flood f) {
    both_->in_handler = true;
    for (std::uint64_t i = 0; i < f.messages; ++i) send(next_, i);
    both_->in_handler = false;
  }

 private:
  ref<numbers> next_;
  overlap* both_;
};

std::uint32_t handled_meanwhile(bool last_may_run_in_place) {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = limit;
  o.mailbox.full_wait = {};
  overlap both;
  {
    actor_system system(o);
    const auto last = system.spawn<last_stage>(
        spawn_options{.lazy = true, .in_place = last_may_run_in_place}, lent(&both));
    const auto middle = system.spawn<forwarder>(spawn_options{.lazy = true}, last);
    send(system.spawn<noting_source>(middle, lent(&both)), flood{1000});
  }
  return both.seen;
}

}  // namespace

TEST_CASE("in place: an actor that may not run so does not, woken by one that does") {
  CHECK(handled_meanwhile(true) > 500);
  CHECK(handled_meanwhile(false) == 0);
}

namespace {

struct meet {
  std::atomic<bool> entered{false}, open{false};
};
struct ask {};

/// Hands on `limit` messages and then drops the handle of the receiver.
class forgetful_forwarder : public actor<numbers> {
 public:
  explicit forgetful_forwarder(ref<numbers> next) : next_(std::move(next)) {}
  void on(std::uint64_t i) {
    if (i < limit) send(next_, i);
    if (i == limit - 1) next_ = {};
  }

 private:
  ref<numbers> next_;
};

/// Waits in its handler until it is let go. Then it fills `middle`, which runs in place and fills
/// `last`, which runs in place after it; and lets the last handle of `last` fall.
class last_holder : public actor<protocol<void(flood)>> {
 public:
  last_holder(meet* where, ref<numbers> middle, ref<numbers> last)
      : where_(where), middle_(std::move(middle)), last_(std::move(last)) {}
  void on(flood f) {
    where_->entered = true;
    where_->entered.notify_all();
    where_->open.wait(false);
    for (std::uint64_t i = 0; i < f.messages; ++i) send(middle_, i);
    last_ = {};
  }

 private:
  meet* where_;
  ref<numbers> middle_;
  ref<numbers> last_;
};

}  // namespace

TEST_CASE("in place: an actor that ends while a queue still names it leaves the queue as it is") {
  struct answering : actor<protocol<int(ask)>> {
    int on(ask) { return 7; }
  };
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = limit;
  o.mailbox.full_wait = {};
  seen s;
  meet where;
  actor_system system(o);
  const auto waiting = system.spawn<answering>(spawn_options{.lazy = true});
  ref<numbers> last = system.spawn<sink>(spawn_options{.lazy = true}, lent(&s));
  const auto middle = system.spawn<forgetful_forwarder>(spawn_options{.lazy = true}, last);
  send(system.spawn<last_holder>(lent(&where), middle, last), flood{limit + 1});
  where.entered.wait(false);
  auto answer = system.request(waiting, ask{}, duration::seconds(20));  // in the queue before it
  send(last, std::uint64_t{0});
  last = {};
  where.open = true;
  where.open.notify_all();
  CHECK(answer.get().value() == 7);
  CHECK(system.shutdown(duration::seconds(20)).complete);
  CHECK(s.count == limit + 1);
}

namespace {

core::running_cell& cell_of(const core::handle& who) {
  return core::running_cell::of(*core::handle_access::get(who));
}

/// A receiver for which a sender on another thread waits, as far as it can tell.
struct awaited {
  seen into;
  ref<numbers> who;
  core::drain_lot* lot;
  std::uint32_t before = 0;

  explicit awaited(testkit::test_system& kit, bool may_run_in_place = true)
      : who(kit.spawn<sink>(spawn_options{.in_place = may_run_in_place}, lent(&into))),
        lot(kit.env().lot) {}
  void be_waited_for() {
    send(who, into.count);
    REQUIRE(cell_of(who).gate().ask_to_wait());
    before = lot->epoch(who.id());
  }
  void fill() const {
    const std::uint64_t next = into.count + 1;
    for (std::uint64_t i = 0; i < limit; ++i) send(who, next + i);
  }
  [[nodiscard]] bool has_woken() const { return lot->epoch(who.id()) != before; }
};

}  // namespace

TEST_CASE(
    "in place: a waiting sender is woken when its receiver's run is over, or the worker turns to "
    "another receiver") {
  testkit::test_system kit(
      testkit::settings{.mailbox = {.soft_limit = limit, .in_place = true, .full_wait = {}}});
  awaited first(kit);
  awaited second(kit);
  awaited refusing(kit, false);
  const awaited* next = nullptr;
  std::vector<bool> first_has_woken;
  const auto note = [&] { first_has_woken.push_back(first.has_woken()); };
  const auto worker = kit.spawn(lent([&](dynamic_actor&) -> behavior {
    return {[&](flood) {
      first.fill();
      note();
      if (next != nullptr) next->fill();
      note();
    }};
  }));
  const auto work = [&](const awaited* then) {
    next = then;
    base::this_thread.free_sends = 0;         // a test before may have left some
    core::detail::here.in_place_batches = 0;  // the next batch is none of those that wake at once
    for (awaited* a : {&first, &second, &refusing}) a->be_waited_for();
    send(worker, flood{limit});
    kit.expect<flood>().to(worker);
    note();
    return std::exchange(first_has_woken, {});
  };
  kit.run();
  using bools = std::vector<bool>;
  CHECK(work(nullptr) == bools{false, false, true});
  kit.run();
  CHECK(work(&second) == bools{false, true, true});
  CHECK(second.has_woken());
  kit.run();
  CHECK(work(&refusing) == bools{false, true, true});
  kit.run();
  for (const awaited* a : {&first, &second, &refusing}) CHECK(a->into.in_order);
}

TEST_CASE(
    "in place: a sender that runs its receiver by run_in_place wakes those that wait for it") {
  testkit::test_system kit(
      testkit::settings{.mailbox = {.soft_limit = limit, .in_place = true, .full_wait = {}}});
  awaited to(kit);
  std::vector<bool> seen_by_sender;
  const auto worker = kit.spawn(lent([&](dynamic_actor&) -> behavior {
    return {[&](flood) {
      to.fill();
      seen_by_sender.push_back(to.has_woken());
      send(to.who, std::uint64_t{0});
      seen_by_sender.push_back(run_in_place(to.who));
      seen_by_sender.push_back(to.has_woken());
    }};
  }));
  base::this_thread.free_sends = 0;         // a test before may have left some
  core::detail::here.in_place_batches = 0;  // the next batch is none of those that wake at once
  kit.run();
  to.be_waited_for();
  send(worker, flood{limit});
  kit.expect<flood>().to(worker);
  kit.run();
  CHECK(seen_by_sender == std::vector<bool>{false, true, true});
}

TEST_CASE("a waiting sender is woken when its receiver's turn is over, though there is mail left") {
  testkit::test_system kit(testkit::settings{.mailbox = {.soft_limit = limit}});
  awaited to(kit);
  kit.run();
  to.be_waited_for();
  to.fill();
  REQUIRE(kit.step());
  CHECK(to.into.count == 1);
  CHECK(to.has_woken());
  kit.run();
}

}  // namespace in_place_test
