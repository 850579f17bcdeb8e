// The end of a system: waiting, draining, stopping; the names in a hang's report; and everything
// that must not crash or hang.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/quiet.hpp"

namespace shutdown_test {

namespace {

using namespace garrick;
using tests::quiet;

struct go {};
struct work {
  int n;
};
struct leave {};
struct done {};

using worker_protocol = protocol<void(work), void(leave), int(done)>;

class worker : public actor<worker_protocol> {
  std::atomic<int>* handled_;

 public:
  explicit worker(std::atomic<int>* h) : handled_(h) {}
  void on(work w) {
    ++*handled_;
    if (w.n > 0) send(self(), work{w.n - 1});
  }
  void on(leave) { quit(); }
  int on(done) { return 1; }
};

/// Sits in its handler until it is let go.
struct latch {
  std::atomic<bool> entered{false}, open{false};
  void hold() {
    entered = true;
    entered.notify_all();
    open.wait(false);
  }
  void await_entered() { entered.wait(false); }
  void release() {
    open = true;
    open.notify_all();
  }
};
class stuck : public actor<protocol<void(go)>> {
  latch* latch_;

 public:
  explicit stuck(latch* l) : latch_(l) {}
  void on(go) { latch_->hold(); }
};

}  // namespace

TEST_CASE("the destructor drains: messages that are under way are handled first") {
  std::atomic<int> handled{0};
  {
    actor_system system(quiet());
    for (int i = 0; i < 10; ++i) send(system.spawn<worker>(lent(&handled)), work{1000});
  }
  CHECK(handled == 10 * 1001);
}

TEST_CASE(
    "fast clocks do not keep a system from draining, nor does an actor that delays to itself") {
  struct ticking : actor<protocol<void(go), void(leave)>> {
    void on_start() {
      send_every(duration::microseconds(50), self(), go{});
      send(self(), leave{});
    }
    void on(go) {}
    void on(leave) { send_after(duration::microseconds(50), self(), leave{}); }
  };
  actor_system system(quiet());
  std::vector<ref<protocol<void(go), void(leave)>>> all;
  for (int i = 0; i < 20; ++i) all.push_back(system.spawn<ticking>());
  CHECK(system.shutdown(duration::infinite()).complete);
}

TEST_CASE("stop_now does not wait for messages in the mailboxes: dead letters") {
  std::atomic<int> handled{0};
  latch l;
  actor_system system(quiet(1));
  auto s = system.spawn<stuck>(lent(&l));
  auto w = system.spawn<worker>(lent(&handled));
  send(s, go{});
  l.await_entered();
  for (int i = 0; i < 100; ++i) send(w, work{0});
  std::thread releaser([&] { l.release(); });
  const shutdown_report r = system.stop_now(duration::seconds(20));
  releaser.join();
  CHECK(r.complete);
  CHECK(handled + static_cast<int>(system.dead_letter_count(errc::not_handled)) == 100);
}

TEST_CASE("an actor without other handles that sends to itself for ever is ended by stop_now") {
  struct lonely : actor<protocol<void(go)>> {
    explicit lonely(std::atomic<int>* handled) : handled_(handled) {}
    void on(go) {
      ++*handled_;
      send(self(), go{});
    }
    std::atomic<int>* handled_;
  };
  std::atomic<int> handled{0};
  actor_system system(quiet());
  for (int i = 0; i < 3; ++i) send(system.spawn<lonely>(lent(&handled)), go{});
  while (handled < 1000) std::this_thread::yield();
  CHECK(system.stop_now(duration::seconds(20)).complete);
}

TEST_CASE("await_all returns when every actor has ended, and does not count hidden ones") {
  std::atomic<int> handled{0};
  actor_system system(quiet());
  auto a = system.spawn<worker>(lent(&handled));
  auto hidden = system.spawn<worker>(spawn_options{.hidden = true}, lent(&handled));
  CHECK(!system.await_all(duration::milliseconds(1)).complete);
  send(a, leave{});
  CHECK(system.await_all().has_value());
  CHECK(system.request(hidden, done{}).get().value() == 1);
}

TEST_CASE("a hang is diagnosed by name, with the handler that does not return") {
  latch l, m;
  actor_system system(quiet());
  auto s = system.spawn<stuck>(spawn_options{.name = "printer"}, lent(&l));
  auto own = system.spawn<stuck>(spawn_options{.name = "scanner", .detached = true}, lent(&m));
  send(s, go{});
  send(own, go{});
  l.await_entered();
  m.await_entered();
  std::string text;
  for (bool both = false; !both;) {
    const shutdown_report r = system.shutdown(duration::milliseconds(5));
    CHECK(!r.complete);
    REQUIRE(r.still_alive.size() == 2);
    text = r.still_alive[0] + "\n" + r.still_alive[1];
    both = text.find("go\n") != std::string::npos && text.rfind("go") > text.find("go\n");
  }
  CHECK(text.find("printer#") != std::string::npos);
  CHECK(text.find("scanner#") != std::string::npos);
  CHECK(text.find("in its handler of ") != std::string::npos);
  l.release();
  m.release();
  CHECK(system.shutdown(duration::seconds(20)).complete);
}

TEST_CASE("spawning after the stop is an error, and a send to it a dead letter") {
  std::atomic<int> handled{0};
  actor_system system(quiet());
  CHECK(system.shutdown(duration::seconds(10)).complete);
  const auto refused = system.try_spawn<worker>(lent(&handled));
  CHECK(!refused.has_value());
  auto w = system.spawn<worker>(lent(&handled));
  send(w, work{0});
  CHECK(system.request(w, done{}).get().error() == errc::not_handled);
  CHECK(handled == 0);
  auto f = system.spawn([](blocking_actor&) {});
  CHECK(core::handle_access::get(f)->has_ended());
}

namespace {

struct life_notes {
  std::atomic<int> built{0}, exits{0}, destroyed{0};
};
class noting : public actor<protocol<void(go)>> {
  life_notes* notes_;

 public:
  explicit noting(life_notes* n) : notes_(n) { ++notes_->built; }
  noting(const noting&) = delete;
  ~noting() { ++notes_->destroyed; }
  void on(go) {}
  void on_exit(const exit_reason&) { ++notes_->exits; }
};

}  // namespace

TEST_CASE(
    "an actor is destroyed if its spawn was refused, but its exit hook does not run: it has not "
    "lived") {
  life_notes lived, refused;
  actor_system system(quiet());
  const auto top = system.spawn<supervisor>();
  const auto never_ran = system.spawn<noting>(lent(&lived));
  const auto child = supervise<noting>(top, lent(&lived));
  static_cast<void>(system.stop_now(duration::seconds(10)));
  CHECK(lived.exits == 2);
  CHECK(lived.destroyed == 2);
  CHECK(system.try_spawn<noting>(lent(&refused)).error() == errc::shutting_down);
  static_cast<void>(system.spawn<noting>(spawn_options{.name = "with options"}, lent(&refused)));
  static_cast<void>(supervise<noting>(top, lent(&refused)));
  CHECK(refused.built == 3);
  CHECK(refused.destroyed == 3);
  CHECK(refused.exits == 0);
}

TEST_CASE("waiting for the system on one of its own threads is an error with advice") {
  actor_system system(quiet());
  for (const bool detached : {false, true}) {
    auto a = system.spawn(
        spawn_options{.detached = detached}, lent([&system](dynamic_actor&) -> behavior {
          return {[&system](go) {
            const auto all = system.await_all();
            const auto some = system.shutdown(duration::seconds(1));
            return (all.has_value() ? std::string("no error") : all.error().to_string()) +
                   (some.complete ? " complete" : "");
          }};
        }));
    const std::string text = system.request_as<std::string>(a, go{}).get().value();
    CHECK(text.find("wait for itself") != std::string::npos);
    CHECK(text.find("complete") == std::string::npos);
  }
}

TEST_CASE("get() on a worker is an error with advice") {
  std::atomic<int> handled{0};
  actor_system system(quiet());
  auto w = system.spawn<worker>(lent(&handled));
  auto a = system.spawn(lent([&system, w](dynamic_actor&) -> behavior {
    return {[&system, w](go) {
      return system.request(w, done{}).get().has_value()
                 ? std::string()
                 : system.request(w, done{}).get().error().to_string();
    }};
  }));
  CHECK(system.request_as<std::string>(a, go{}).get().value().find("co_await") !=
        std::string::npos);
}

TEST_CASE("a system ends with actors that only each other's handles keep alive") {
  struct node : actor<protocol<void(any_ref)>> {
    any_ref other;
    void on(any_ref r) { other = std::move(r); }
  };
  actor_system system(quiet());
  auto a = system.spawn<node>(), b = system.spawn<node>();
  send(a, any_ref(b));
  send(b, any_ref(a));
}

TEST_CASE(
    "a system ends with pending timers, suspended coroutines, outstanding requests and blocked "
    "blocking actors") {
  struct waiting : actor<protocol<void(go), result<int>(done)>> {
    ref<protocol<void(go), result<int>(done)>> other;
    std::shared_ptr<int> token;
    std::vector<response_promise<int>> kept;
    waiting(ref<protocol<void(go), result<int>(done)>> o, std::shared_ptr<int> t)
        : other(std::move(o)), token(std::move(t)) {}
    void on_start() {
      send_after(duration::seconds(3600), self(), go{});
      send_every(duration::seconds(3600), self(), go{});
    }
    task<void> on(go) {
      const std::shared_ptr<int> local = token;
      auto asked = request(other, done{});
      result<int> r = co_await std::move(asked);
      static_cast<void>(r);
    }
    result<int> on(done) {
      kept.push_back(make_promise<int>());
      return kept.back();
    }
  };
  auto token = std::make_shared<int>(0);
  {
    actor_system system(quiet());
    auto b = system.spawn<waiting>(ref<protocol<void(go), result<int>(done)>>{}, lent(token));
    auto a = system.spawn<waiting>(b, lent(token));
    send(a, go{});
    auto blocked = system.spawn(lent([token](blocking_actor& self) {
      const std::shared_ptr<int> local = token;
      self.receive([](work) {});
    }));
    auto timed = system.spawn(lent([token](blocking_actor& self) {
      self.receive([](work) {}, after(duration::seconds(3600)) >> [] {});
    }));
  }
  CHECK(token.use_count() == 1);
}

TEST_CASE("handles outlive their system: sends are lost, requests fail, nothing crashes") {
  std::optional<ref<worker_protocol>> kept;
  std::optional<address> name;
  weak_ref<worker_protocol> weak;
  std::atomic<int> handled{0};
  {
    actor_system system(quiet());
    kept = system.spawn<worker>(lent(&handled));
    weak = *kept;
    name = kept->address();
  }
  send(*kept, work{1});
  CHECK(!name->to_string().empty());
  actor_system other(quiet());
  CHECK(other.request(*kept, done{}).get().error() == errc::not_handled);
  const ref<worker_protocol> copy = *kept;
  kept.reset();
  CHECK(copy.address() == *name);
  CHECK(handled == 0);
}

TEST_CASE("a destructor that sends while the system ends is no trouble") {
  struct chatty : actor<protocol<void(go)>> {
    ref<worker_protocol> to;
    explicit chatty(ref<worker_protocol> t) : to(std::move(t)) {}
    ~chatty() {
      for (int i = 0; i < 2000; ++i) send(to, work{0});
    }
    void on(go) {}
  };
  std::atomic<int> handled{0};
  for (int round = 0; round < 10; ++round) {
    settings o = quiet();
    o.mailbox.soft_limit = 16;
    actor_system system(o);
    auto w = system.spawn<worker>(lent(&handled));
    std::vector<ref<protocol<void(go)>>> all;
    for (int i = 0; i < 10; ++i) all.push_back(system.spawn<chatty>(w));
  }
}

TEST_CASE("many systems live in one process at once and talk to each other") {
  constexpr std::size_t n = 6;
  std::atomic<int> handled{0};
  std::vector<std::unique_ptr<actor_system>> systems;
  std::vector<ref<worker_protocol>> workers;
  for (std::size_t i = 0; i < n; ++i) {
    systems.push_back(std::make_unique<actor_system>(quiet(1)));
    workers.push_back(systems.back()->spawn<worker>(lent(&handled)));
  }
  std::vector<any_ref> senders;
  for (std::size_t i = 0; i < n; ++i) {
    senders.push_back(
        systems[i]->spawn(lent([to = workers[(i + 1) % n]](dynamic_actor& self) -> behavior {
          return {[&self, to](go) {
            for (int k = 0; k < 2000; ++k) send(to, work{0});
            self.request(to, done{}).then([&self](int) { self.quit(); });
          }};
        })));
    send(senders.back(), go{});
  }
  while (handled < static_cast<int>(n) * 2000) std::this_thread::yield();
  systems.erase(systems.begin() + 2);
  for (std::size_t i = 0; i < n; ++i) send(workers[i], work{0});
  while (handled < static_cast<int>(n) * 2000 + static_cast<int>(n) - 1) std::this_thread::yield();
}

TEST_CASE("a supervised tree is stopped youngest first when its system ends") {
  static std::vector<int> order;
  struct ordered : actor<protocol<void(go)>> {
    int n;
    explicit ordered(int i) : n(i) {}
    ~ordered() { order.push_back(n); }  // one at a time: the supervisor waits for each
    void on(go) {}
  };
  order.clear();
  {
    actor_system system(quiet());
    auto top = system.spawn<supervisor>(supervision{}, child<ordered>(1), child<ordered>(2),
                                        child<ordered>(3));
    CHECK(system.request(top, list_children{}).get().value().size() == 3);
  }
  CHECK(order == std::vector<int>{3, 2, 1});
}

TEST_CASE("a system that ends asks supervisors, and not the children that they stop") {
  static std::atomic<int> asked;
  struct trapping : actor<protocol<void(go), void(exit_signal)>> {
    trapping() { trap_exit(true); }
    void on(go) {}
    void on(const exit_signal&) { ++asked; }
  };
  asked = 0;
  actor_system system(quiet(1));
  const auto top = system.spawn<supervisor>();
  for (int i = 0; i < 64; ++i) static_cast<void>(supervise<trapping>(top));
  CHECK(system.shutdown(duration::seconds(20)).complete);
  CHECK(asked == 0);
}

TEST_CASE("a supervisor names the child that is still alive after its time, and goes on") {
  const auto in_time = [](duration within) {
    latch l;
    actor_system system(quiet());
    auto top = system.spawn<supervisor>(supervision{.stop_within = within});
    auto easy = supervise<stuck>(top, child_options{.name = "easy"}, lent(&l));
    auto hard = supervise<stuck>(top, child_options{.name = "hard"}, lent(&l));
    send(hard, go{});
    l.await_entered();
    const stop_report r = system.request(top, stop_children{}).get().value();
    const bool easy_ended = r.still_alive.size() == 1;
    if (easy_ended) {
      CHECK(r.still_alive[0].find("hard#") == 0);
      CHECK(core::handle_access::get(easy)->has_ended());
    }
    l.release();
    return easy_ended;
  };
  // On a busy machine the time may be over before the other one has had its turn.
  duration within = duration::milliseconds(5);
  while (!in_time(within)) within = within * 4;
}

TEST_CASE("a blocking child is restarted on its thread and can be stopped while it waits") {
  std::atomic<int> starts{0};
  actor_system system(quiet());
  {
    auto top = system.spawn<supervisor>(supervision{.max_restarts = 100});
    auto b = supervise(top, lent([&starts](blocking_actor& self) {
                         ++starts;
                         self.receive([](go) { throw std::runtime_error("x"); });
                       }));
    for (int i = 0; i < 20; ++i) send(b, go{});
    while (starts < 21) std::this_thread::yield();
    CHECK(!core::handle_access::get(b)->has_ended());
    CHECK(system.request(top, stop_children{}).get().value().still_alive.empty());
    CHECK(core::handle_access::get(b)->has_ended());
  }
  CHECK(starts == 21);
}

}  // namespace shutdown_test
