// Changes and questions while a system runs: log level, watchdog, figures of the workers.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/garrick.hpp>
#include <garrick/system/system_core.hpp>

#include <atomic>

namespace changed_while_running_test {

namespace {

using namespace garrick;
using system::log_level;

struct gate {
  std::atomic<bool> open{false};
  std::atomic<bool> reached{false};
  void pass() {
    reached = true;
    reached.notify_all();
    open.wait(false);
  }
  void let_go() {
    open = true;
    open.notify_all();
  }
};

struct key {
  using garrick_sendable = void;  // the gate outlives the actor, and may be used by any thread
  gate* to;
};

struct wait_there {};
class waits : public actor<protocol<void(wait_there)>> {
 public:
  explicit waits(key k) : gate_(k.to) {}
  void on(wait_there) { gate_->pass(); }

 private:
  gate* gate_;
};

class stalls final : public base::probe {
 public:
  void on_stall(std::uint32_t, std::uint64_t actor, const base::message_type*,
                duration) noexcept override {
    who = actor;
    who.notify_all();
  }
  void on_stolen(std::uint32_t, std::uint32_t) noexcept override { ++stolen; }
  void on_worker_parked(std::uint32_t) noexcept override {
    ++parked;
    parked.notify_all();
  }
  std::atomic<std::uint64_t> who{0}, stolen{0}, parked{0};
};

settings with(stalls& heard, duration after) {
  settings o;
  o.scheduler.workers = 2;
  o.watchdog.after = after;
  o.log.level = log_level::off;
  o.probe = &heard;
  return o;
}

}  // namespace

TEST_CASE("a watchdog's limit is changed while a handler hangs, and the watchdog reports it") {
  stalls heard;
  gate g;
  actor_system system(with(heard, duration::seconds(3600)));
  const auto a = system.spawn<waits>(key{&g});
  send(a, wait_there{});
  g.reached.wait(false);
  CHECK(system.set_watchdog(duration::milliseconds(2)).has_value());
  heard.who.wait(0);
  CHECK(heard.who == a.id());
  g.let_go();
}

TEST_CASE("a system without a watchdog gets one") {
  stalls heard;
  gate g;
  actor_system system(with(heard, duration()));
  const auto a = system.spawn<waits>(key{&g});
  send(a, wait_there{});
  g.reached.wait(false);
  CHECK(system.set_watchdog(duration()).has_value());
  CHECK(system.set_watchdog(duration::milliseconds(2)).has_value());
  heard.who.wait(0);
  CHECK(heard.who == a.id());
  CHECK(system.set_watchdog(duration()).has_value());
  g.let_go();
}

TEST_CASE("the log's level is changed while the system runs") {
  stalls heard;
  actor_system system(with(heard, duration()));
  CHECK(!system.core().log().wants(log_level::error));
  system.set_log_level(log_level::error);
  CHECK(system.core().log().wants(log_level::error));
  CHECK(!system.core().log().wants(log_level::debug));
  CHECK(system.settings().log.level == log_level::off);
  system.set_log_level(log_level::off);
}

TEST_CASE("each worker has figures, and a probe of the system hears of its workers") {
  stalls heard;
  actor_system system(with(heard, duration()));
  heard.parked.wait(0);
  const auto a = system.spawn([] { return behavior{[](int x) { return x + 1; }}; });
  for (int i = 0; i != 100; ++i) CHECK(system.request_as<int>(a, i).get().value() == i + 1);
  const auto runs = [&] {
    return system.worker_statistics(0)->runs + system.worker_statistics(1)->runs;
  };
  CHECK(runs() > 0);
  CHECK(system.worker_statistics(0)->parks + system.worker_statistics(1)->parks > 0);
  CHECK_FALSE(system.worker_statistics(2));
}

}  // namespace changed_while_running_test
