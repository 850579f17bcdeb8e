// A system does not end while an answer is due from outside of its actors: an adapted callback, or
// the work of a token.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/quiet.hpp"

namespace outside_work_test {

namespace {

using namespace garrick;

struct go {};

settings quiet(duration deadline = duration::seconds(60)) {
  settings o = tests::quiet();
  o.shutdown.deadline = deadline;
  return o;
}

/// A library of the other kind: completions that are called when the test says so.
struct library {
  std::vector<completion<int>> kept;
  std::atomic<int> calls{0};
};
library lib;  // of the running test
std::atomic<int> got{0};

/// Adapts one call for each message, and handles the response as `How` says.
template <class How>
behavior caller(dynamic_actor& self) {
  return {[&self, how = How()](go) mutable {
    how(adapt<int>(self, [](completion<int> done) {
      lib.kept.push_back(std::move(done));
      ++lib.calls;
      lib.calls.notify_all();
    }));
  }};
}

struct with_then {
  void operator()(pending_response<int>&& p) {
    std::move(p).then([](int x) { got += x; });
  }
};
struct dropped {
  void operator()(pending_response<int>&& p) { const auto withdrawn = std::move(p); }
};
struct timed_out {
  void operator()(pending_response<int>&& p) {
    std::move(p).within(duration::milliseconds(1)).then([](int) {}, [](const error&) {});
  }
};
struct kept_for_later {
  std::optional<pending_response<int>> held;  // goes with the behavior, on the actor's turn
  void operator()(pending_response<int>&& p) { held.emplace(std::move(p)); }
};

void begin_anew() {
  lib.kept.clear();
  lib.calls = 0;
  got = 0;
}

void wait_for_calls(int n) {
  for (int seen = lib.calls; seen != n; seen = lib.calls) lib.calls.wait(seen);
}

/// Hands over to a thread of its own, and again with each answer.
behavior relay(dynamic_actor& self) {
  return {[&self](int left) {
    adapt<int>(self, [left](completion<int> done) {
      std::thread([done = std::move(done), left] { done(left - 1); }).detach();
    }).then([&self](int next) {
      ++got;
      if (next > 0) send(self.self(), next);
    });
  }};
}

}  // namespace

TEST_CASE("a pending adapt keeps its system from the end, and its answer is handled") {
  begin_anew();
  std::thread late;
  {
    actor_system system(quiet());
    send(system.spawn(caller<with_then>), go{});
    wait_for_calls(1);
    late = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a slow library
      lib.kept.back()(42);
    });
  }
  CHECK(got == 42);
  late.join();
}

TEST_CASE("work that is handed over to outside again and again is waited for to its end") {
  begin_anew();
  {
    actor_system system(quiet());
    for (int i = 0; i < 4; ++i) send(system.spawn(relay), 50);
  }
  CHECK(got == 200);
}

TEST_CASE("an adapt with an answer that is no longer awaited holds up no end") {
  const auto ends_soon = [](const char* what, auto how, auto afterwards) {
    CAPTURE(what);
    begin_anew();
    actor_system system(quiet());
    const any_ref a = system.spawn(how);
    send(a, go{});
    wait_for_calls(1);
    afterwards(system, a);
    const shutdown_report report = system.shutdown(duration::seconds(30));
    CHECK(report.complete);
    CHECK(report.outside_due == 0);
    CHECK(system.env().outside_due() == 0);
  };
  const auto nothing = [](auto&&...) {};
  ends_soon("dropped", caller<dropped>, nothing);
  ends_soon("timed out", caller<timed_out>, nothing);
  ends_soon("its actor was killed", caller<with_then>,
            [](actor_system& system, const any_ref& a) { system.kill(a); });
  ends_soon("the completion was dropped", caller<with_then>,
            [](actor_system&, const any_ref&) { lib.kept.clear(); });
  ends_soon("it failed", caller<with_then>, [](actor_system&, const any_ref&) {
    lib.kept.back().fail(make_error(errc::user, "on purpose"));
  });
  ends_soon("its answer waits for somebody to take it", caller<kept_for_later>,
            [](actor_system&, const any_ref&) { lib.kept.back()(1); });
}

TEST_CASE("the report says how much was due from outside when the time was over") {
  begin_anew();
  actor_system system(quiet());
  const any_ref a = system.spawn(caller<with_then>);
  send(a, go{});
  send(a, go{});
  wait_for_calls(2);
  const shutdown_report report = system.shutdown(duration::milliseconds(20));
  CHECK(report.outside_due == 2);
  CHECK(report.complete);
  CHECK(system.env().outside_due() == 0);  // the actor ended, and with it the wait
  for (const auto& late : lib.kept) late(1);
  CHECK(got == 0);
}

TEST_CASE("a token of work outside keeps the system from its end until it is done or dropped") {
  begin_anew();
  std::thread worker;
  {
    actor_system system(quiet());
    const any_ref a =
        system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { got += x; }}; });
    outside_work first(system.env());
    outside_work second = std::move(first);
    first.done();  // it has none any more
    CHECK(system.env().outside_due() == 1);
    first = outside_work(system.env());
    CHECK(system.env().outside_due() == 2);
    worker = std::thread([a, first = std::move(first), second = std::move(second)]() mutable {
      send(a, 1);
      first.done();
      first.done();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // something slow
      send(a, 10);
      second = outside_work();
    });
  }
  CHECK(got == 11);
  worker.join();
}

TEST_CASE("a token may outlive its system") {
  outside_work kept;
  {
    actor_system system(quiet(duration::milliseconds(1)));
    kept = outside_work(system.env());
    CHECK(system.shutdown(duration::milliseconds(1)).outside_due == 1);
    kept.done();
    CHECK(system.shutdown(duration::seconds(10)).outside_due == 0);
    kept = outside_work(system.env());
  }
  kept.done();
}

}  // namespace outside_work_test
