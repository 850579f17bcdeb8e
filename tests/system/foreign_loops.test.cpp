// Actors on a foreign event loop, here Asio's: they run in its jobs and nowhere else, the loop
// never waits for them, and both come to their end.
#include <doctest/doctest.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/quiet.hpp"

namespace foreign_loops_test {

namespace {

using namespace garrick;
using tests::quiet;

struct where {};
struct flood {
  int n;
};

/// Asio's loop on threads of its own, as long as it lives.
struct running_loop {
  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::vector<std::thread> threads;
  loop_executor executor{[this](loop_job job) { boost::asio::post(io, job); }};

  explicit running_loop(int n = 1) {
    for (int i = 0; i < n; ++i) threads.emplace_back([this] { io.run(); });
  }
  ~running_loop() {
    work.reset();
    for (std::thread& t : threads) t.join();
  }
};

std::atomic<std::thread::id> destroyed_on;

using located = protocol<bool(where), void(flood), int(int)>;
/// Notes where it runs.
class resident : public actor<located> {
 public:
  ~resident() { destroyed_on = std::this_thread::get_id(); }
  void on_start() { home_ = std::this_thread::get_id(); }
  bool on(where) const { return home_ == std::this_thread::get_id(); }
  void on(flood f) { sum_ += f.n; }
  int on(int x) { return sum_ += x; }

 private:
  std::thread::id home_;
  int sum_ = 0;
};

std::atomic<actor_system*> asked_from{nullptr};
error refusal;

/// Waits for an answer, which is refused on a loop.
class asking : public actor<protocol<void(where)>> {
 public:
  explicit asking(ref<located> to) : to_(std::move(to)) {}
  void on(where) { refusal = asked_from.load()->request(to_, 1).get().error(); }

 private:
  ref<located> to_;
};

}  // namespace

TEST_CASE("an actor on a loop runs on the loop's thread from its start to its end") {
  running_loop loop;
  const std::thread::id there = loop.threads[0].get_id();
  {
    actor_system system(quiet());
    const auto a = system.spawn<resident>(spawn_options{.executor = &loop.executor});
    for (int i = 0; i < 100; ++i) CHECK(system.request(a, where{}).get().value());
    system.exit(a);
    CHECK(system.await_all().has_value());
    CHECK(destroyed_on.load() == there);
    system.spawn<resident>(spawn_options{.executor = &loop.executor});  // no handle is kept
    CHECK(system.await_all().has_value());
    static_cast<void>(system.spawn<resident>(spawn_options{.executor = &loop.executor}));
  }
  CHECK(destroyed_on.load() == there);
}

TEST_CASE("actors on a loop and on workers talk in all directions") {
  running_loop loop(2);
  static std::atomic<int> turns;
  struct player : actor<protocol<void(int), void(any_ref)>> {
    any_ref other;
    void on(const any_ref& r) { other = r; }
    void on(int left) {
      ++turns;
      if (left > 0) send(other, left - 1);
    }
  };
  turns = 0;
  {
    actor_system system(quiet());
    for (int i = 0; i < 4; ++i) {
      const any_ref here(system.spawn<player>());
      const any_ref there(system.spawn<player>(spawn_options{.executor = &loop.executor}));
      send(here, there);
      send(there, here);
      send(here, 499);
    }
  }
  CHECK(turns == 2000);
}

TEST_CASE("a job handles a bounded number of messages, so timers of the loop have their turn") {
  boost::asio::io_context io;
  int jobs = 0;
  loop_executor loop(
      [&](loop_job job) {
        ++jobs;
        boost::asio::post(io, job);
      },
      16);
  actor_system system(quiet());
  const auto a = system.spawn<resident>(spawn_options{.lazy = true, .executor = &loop});
  for (int i = 0; i < 160; ++i) send(a, flood{1});
  CHECK(jobs == 1);
  CHECK(io.poll_one() == 1);
  CHECK(a.mailbox_length() == 144);
  io.restart();
  io.poll();
  CHECK(jobs >= 10);
  CHECK(jobs <= 11);
  while (!system.shutdown(duration::milliseconds(1)).complete) {
    io.restart();
    io.poll();
  }
}

TEST_CASE("a handler on a loop waits neither for a full mailbox nor for an answer") {
  boost::asio::io_context io;
  loop_executor loop([&io](loop_job job) { boost::asio::post(io, job); });
  settings given = quiet();
  given.mailbox.soft_limit = 8;
  given.mailbox.full_wait = duration::seconds(60);
  actor_system system(given);
  asked_from = &system;
  const auto sink = system.spawn<resident>(spawn_options{.lazy = true, .executor = &loop});
  const auto source = system.spawn(
      spawn_options{.executor = &loop},
      [](dynamic_actor& self, ref<located> to) -> behavior {
        for (int i = 0; i < 1000; ++i) self.send(to, flood{1});
        return {};
      },
      ref<located>(sink));
  io.run_one();
  CHECK(sink.mailbox_length() == 1000);
  const auto asks = system.spawn<asking>(spawn_options{.executor = &loop}, sink);
  send(asks, where{});
  io.restart();
  io.poll();
  CHECK(refusal == errc::would_block);
  io.restart();
  io.poll();
  while (!system.shutdown(duration::milliseconds(1)).complete) {
    io.restart();
    io.poll();
  }
}

TEST_CASE("a failure in a handler on a loop ends or restarts the actor there") {
  running_loop loop;
  static std::thread::id there;
  struct fragile : actor<protocol<bool(int)>> {
    bool on(int x) {
      if (x < 0) throw std::runtime_error("below zero");
      return std::this_thread::get_id() == there;
    }
  };
  there = loop.threads[0].get_id();
  actor_system system(quiet());
  const auto a = system.spawn<fragile>(spawn_options{.executor = &loop.executor});
  CHECK(system.request(a, -1).get().error() == errc::receiver_failed);
  const auto top = system.spawn<supervisor>();
  const auto child =
      supervise<fragile>(top, child_options{.spawn = spawn_options{.executor = &loop.executor}});
  CHECK(system.request(child, 1).get().value());
  CHECK(system.request(child, -1).get().error() == errc::receiver_failed);
  CHECK(system.request(child, 1).get().value());
}

TEST_CASE("an actor with a thread of its own has no loop") {
  boost::asio::io_context io;
  loop_executor loop([&io](loop_job job) { boost::asio::post(io, job); });
  actor_system system(quiet());
  const auto refused =
      system.try_spawn<resident>(spawn_options{.detached = true, .executor = &loop});
  REQUIRE(!refused.has_value());
  CHECK(refused.error() == errc::spawn_failed);
  CHECK(refused.error().to_string().find("spawn_options.executor") != std::string::npos);
}

TEST_CASE("an actor on a loop uses the loop's own timers, without a lock") {
  running_loop loop;
  struct ticker : actor<protocol<void(int), int(bool)>> {
    boost::asio::steady_timer timer;
    int ticks = 0;
    explicit ticker(boost::asio::steady_timer t) : timer(std::move(t)) {}
    void on(int left) {
      if (left == 0) return;
      timer.expires_after(std::chrono::microseconds(10));
      timer.async_wait([this, left, me = self()](const auto&) {
        ++ticks;  // on the loop's thread, between two turns
        send(me, left - 1);
      });
    }
    int on(bool) { return ticks; }
  };
  actor_system system(quiet());
  const auto t = system.spawn<ticker>(spawn_options{.executor = &loop.executor},
                                      boost::asio::steady_timer(loop.io));
  send(t, 20);
  while (system.request(t, true).get().value() < 20) std::this_thread::yield();
}

// No thread joins the loop's thread. So the turn in which the last actor ends may still go on when
// the thread that waits for the end has found that no actor lives, and frees the system.
TEST_CASE("a system may be gone before the turn is over in which its last actor ends") {
  constexpr int systems = 1000;
  running_loop loop;
  static std::atomic<int> started, ended;
  struct holds_itself : actor<protocol<void(where)>> {
    any_ref me;
    ~holds_itself() { ++ended; }
    void on_start() {
      me = any_ref(self());
      ++started;
    }
    void on(where) {}
  };
  started = ended = 0;
  settings small = quiet();
  small.scheduler.workers = 1;
  for (int i = 0; i < systems; ++i) {
    actor_system system(small);
    static_cast<void>(system.spawn<holds_itself>(spawn_options{.executor = &loop.executor}));
  }
  CHECK(started == systems);
  CHECK(ended == systems);
}

}  // namespace foreign_loops_test
