// Delayed and periodic sends, time-outs of requests: their times, their cancellation, and their
// ends.
#include <doctest/doctest.h>
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/turn/timer_record.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace timers_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct tick {
  int n;
};
struct after_ms {
  std::int64_t ms;
  int n;
};
struct every_ms {
  std::int64_t ms;
  int n;
};
struct cancel_last {};
struct leave {};
struct slow {};
struct crash {};

using protocol_type = protocol<void(tick), void(after_ms), void(every_ms), bool(cancel_last),
                               void(leave), void(slow), void(crash)>;
using stamps = std::vector<std::pair<std::int64_t, int>>;  // milliseconds since the start, number

class clockwork : public actor<protocol_type> {
  std::shared_ptr<stamps> out_;
  instant start_ = now();
  timer last_;

 public:
  explicit clockwork(std::shared_ptr<stamps> out) : out_(std::move(out)) {}
  void on(tick t) { out_->emplace_back((now() - start_).count() / 1'000'000, t.n); }
  void on(after_ms a) { last_ = send_after(duration::milliseconds(a.ms), self(), tick{a.n}); }
  void on(every_ms e) { last_ = send_every(duration::milliseconds(e.ms), self(), tick{e.n}); }
  bool on(cancel_last) { return last_.cancel(); }
  void on(leave) { quit(); }
  void on(slow) {}
  void on(crash) { throw 1; }
};

struct fixture {
  test_system kit{3};
  std::shared_ptr<stamps> out = std::make_shared<stamps>();
  ref<protocol_type> c = kit.spawn<clockwork>(lent(out));
};

}  // namespace

TEST_CASE("send_after comes at its time, in the order of the times") {
  fixture f;
  send(f.c, after_ms{300, 3});
  send(f.c, after_ms{100, 1});
  send(f.c, after_ms{200, 2});
  f.kit.run_for(duration::milliseconds(150));
  CHECK(*f.out == stamps{{100, 1}});
  f.kit.run_for(duration::seconds(1));
  CHECK(*f.out == stamps{{100, 1}, {200, 2}, {300, 3}});
}

TEST_CASE("send_every comes again and again without drift until it is cancelled") {
  fixture f;
  send(f.c, every_ms{10, 1});
  f.kit.run_for(duration::milliseconds(1000));
  REQUIRE(f.out->size() == 100);
  for (std::size_t i = 0; i < 100; ++i)
    CHECK((*f.out)[i].first == 10 * (static_cast<std::int64_t>(i) + 1));
  CHECK(f.kit.request(f.c, cancel_last{}).get().value());
  f.kit.run_for(duration::milliseconds(1000));
  CHECK(f.out->size() == 100);
  CHECK(!f.kit.request(f.c, cancel_last{}).get().value());
  CHECK(f.kit.timers_pending() == 0);
}

TEST_CASE("a receiver that is late gets all the beats, and later ones are on time") {
  fixture f;
  send(f.c, every_ms{10, 1});
  f.kit.run();
  f.kit.advance(duration::milliseconds(35));
  f.kit.run();
  CHECK(*f.out == stamps{{35, 1}, {35, 1}, {35, 1}});
  f.kit.run_for(duration::milliseconds(5));
  CHECK(f.out->back() == std::pair<std::int64_t, int>{40, 1});
}

TEST_CASE("a periodic send with a first beat before its owner goes on is cancelled at once") {
  /// Fires the first timer while the call that arms it has not returned.
  struct hasty_clock final : base::clock_service {
    std::uint32_t armed = 0;
    base::timer_id cancelled;
    instant now() const noexcept override { return base::real_clock().now(); }
    base::timer_id arm(instant, const base::timer_task& task) override {
      const base::timer_id mine{0, ++armed};
      if (armed == 1) std::thread([&] { task.fire(task.context, task.argument); }).join();
      return mine;
    }
    bool cancel(base::timer_id id) noexcept override {
      cancelled = id;
      return true;
    }
  };
  hasty_clock clock;
  actor_system system;
  system.env().timers = &clock;
  const auto c = system.spawn<clockwork>(lent(std::make_shared<stamps>()));
  send(c, every_ms{1000, 1});
  CHECK(system.request(c, cancel_last{}).get().value());
  CHECK(clock.armed == 2);
  CHECK(clock.cancelled == base::timer_id{0, 2});
}

TEST_CASE("cancelling a timer before its time: it does not come") {
  fixture f;
  send(f.c, after_ms{100, 1});
  f.kit.run();
  CHECK(f.kit.request(f.c, cancel_last{}).get().value());
  CHECK(!f.kit.request(f.c, cancel_last{}).get().value());
  f.kit.run_for(duration::seconds(1));
  CHECK(f.out->empty());
}

TEST_CASE("cancelling a timer that has fired is false, and the message stays") {
  fixture f;
  send(f.c, after_ms{100, 1});
  f.kit.run();
  f.kit.advance(duration::milliseconds(100));
  CHECK(!f.kit.request(f.c, cancel_last{}).get().value());
  CHECK(f.out->size() == 1);
}

TEST_CASE("timers are cancelled when their actor ends") {
  fixture f;
  auto other = f.kit.spawn<clockwork>(lent(f.out));
  auto arming = f.kit.spawn(lent([other](dynamic_actor& self) -> behavior {
    self.send_every(duration::milliseconds(10), other, tick{9});
    self.send_after(duration::milliseconds(10), other, tick{8});
    return {[&self](leave) { self.quit(); }};
  }));
  f.kit.run();
  CHECK(f.kit.timers_pending() == 2);
  send(arming, leave{});
  f.kit.run();
  CHECK(f.kit.timers_pending() == 0);
}

TEST_CASE("timers are cancelled when their actor is restarted, and armed anew by the new object") {
  struct beating : actor<protocol<void(tick), void(crash)>> {
    std::shared_ptr<stamps> out;
    instant start = now();
    explicit beating(std::shared_ptr<stamps> o) : out(std::move(o)) {}
    void on_start() { send_every(duration::milliseconds(10), self(), tick{1}); }
    void on(tick) { out->emplace_back((now() - start).count() / 1'000'000, 0); }
    void on(crash) { throw 1; }
  };
  fixture f;
  auto top = f.kit.spawn<supervisor>();
  auto b = supervise<beating>(top, lent(f.out));
  f.kit.run_for(duration::milliseconds(25));
  send(b, crash{});
  f.kit.run_for(duration::milliseconds(25));
  CHECK(*f.out == stamps{{10, 0}, {20, 0}, {10, 0}, {20, 0}});
  CHECK(f.kit.timers_pending() == 1);
}

TEST_CASE("an actor that a timer can still wake is not reclaimed; then it is") {
  fixture f;
  send(f.c, after_ms{100, 1});
  f.kit.run();
  f.c = {};
  f.kit.run_for(duration::milliseconds(50));
  CHECK(f.kit.actor_count() == 1);
  f.kit.run_for(duration::milliseconds(100));
  CHECK(f.out->size() == 1);
  CHECK(f.kit.actor_count() == 0);
}

TEST_CASE("a request's time-out comes at its time, and the late response is ignored") {
  using holding = protocol<result<int>(slow), void(tick)>;
  struct holder : actor<holding> {
    response_promise<int> p;
    result<int> on(slow) {
      p = make_promise<int>();
      return p;
    }
    void on(tick) { p.deliver(1); }
  };
  test_system kit(1);
  auto h = kit.spawn<holder>();
  std::vector<std::string> heard;
  auto a = kit.spawn(lent([&heard, h](dynamic_actor& self) -> behavior {
    self.request(h, slow{}, duration::milliseconds(50))
        .then([&](int) { heard.push_back("value"); },
              [&](const error& e) { heard.push_back(e == errc::timeout ? "timeout" : "other"); });
    return {[](leave) {}};
  }));
  kit.run_for(duration::milliseconds(49));
  CHECK(heard.empty());
  SUBCASE("late") {
    kit.run_for(duration::milliseconds(2));
    send(h, tick{});
    kit.run();
    CHECK(heard == std::vector<std::string>{"timeout"});
  }
  SUBCASE("in time") {
    send(h, tick{});
    kit.run();
    kit.run_for(duration::seconds(1));
    CHECK(heard == std::vector<std::string>{"value"});
    CHECK(kit.timers_pending() == 0);
  }
}

TEST_CASE(
    "a receive time-out counts from the last message that was handled; a skipped one does not put "
    "it off") {
  test_system kit(1);
  const instant start = kit.now();
  duration silent;
  bool left = false;
  auto a = kit.spawn(lent([&](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    return {[](tick) {}, after(duration::milliseconds(10)) >>
                             [&] {
                               silent = kit.now() - start;
                               self.become([&](leave) { left = true; });
                             }};
  }));
  kit.run_for(duration::milliseconds(6));
  SUBCASE("handled") {
    send(a, tick{1});
    kit.run_for(duration::seconds(1));
    CHECK(silent == duration::milliseconds(16));
    CHECK(!left);
  }
  SUBCASE("skipped") {
    send(a, leave{});
    kit.run_for(duration::seconds(1));
    CHECK(silent == duration::milliseconds(10));
    CHECK(left);
  }
  CHECK(kit.timers_pending() == 0);
}

TEST_CASE("a delay without end never comes and holds nothing") {
  fixture f;
  auto token = f.kit.spawn([](dynamic_actor& self) -> behavior {
    auto t = self.send_after(duration::infinite(), any_ref{self.self()}, tick{1});
    CHECK(!t.active());
    return {[](leave) {}};
  });
  f.kit.run();
  CHECK(f.kit.timers_pending() == 0);
  token = {};
  f.kit.run();
  CHECK(f.kit.actor_count() == 1);
}

TEST_CASE("a timer's handle may outlive its actor and its system") {
  timer kept;
  {
    actor_system system;
    std::atomic<bool> armed{false};
    auto a = system.spawn(lent([&](dynamic_actor& self) -> behavior {
      kept = self.send_after(duration::seconds(3600), any_ref{self.self()}, tick{1});
      armed = true;
      armed.notify_all();
      return {[](leave) {}};
    }));
    armed.wait(false);
    CHECK(kept.active());
  }
  CHECK(!kept.active());
  CHECK(!kept.cancel());
}

TEST_CASE("timers in real time, armed, fired and cancelled by many actors at once") {
  struct busy : actor<protocol<void(tick), int(slow)>> {
    int fired = 0;
    std::vector<timer> timers;
    void on_start() {
      for (int i = 0; i < 200; ++i)
        timers.push_back(send_after(duration::microseconds(i * 20), self(), tick{i}));
      send_every(duration::microseconds(100), self(), tick{-1});
    }
    void on(tick t) {
      ++fired;
      if (t.n > 0) timers[static_cast<std::size_t>(199 - t.n / 2)].cancel();
    }
    int on(slow) const { return fired; }
  };
  settings o;
  o.scheduler.workers = 2;
  actor_system system(o);
  std::vector<ref<protocol<void(tick), int(slow)>>> all;
  for (int i = 0; i < 20; ++i) all.push_back(system.spawn<busy>());
  for (const auto& r : all)
    while (system.request(r, slow{}).get().value() < 150) {}
  for (const auto& r : all) system.exit(r);
}

TEST_CASE("listing a timer costs a constant time, however many its actor has") {
  struct hoarder : actor<protocol<std::int64_t(after_ms)>> {
    std::int64_t on(after_ms a) {
      const auto used = [] { return static_cast<std::int64_t>(base::platform::thread_cpu_ns()); };
      const std::int64_t before = used();
      for (std::int64_t i = 0; i < a.ms; ++i)
        send_after(duration::seconds(3600), self(), tick_of());
      return (used() - before) / a.ms;
    }
    after_ms tick_of() const { return {0, 0}; }
  };
  actor_system system;
  auto h = system.spawn<hoarder>();
  const auto few = system.request(h, after_ms{20'000, 0}).get().value();
  const auto more = system.request(h, after_ms{100'000, 0}).get().value();
  MESSAGE("arming through an actor: ", few, " ns, with many pending ", more, " ns");
  CHECK(more < 20 * few + 2000);
  system.exit(h);
}

TEST_CASE("after thousands of timers have fired, no call of send_after forgets more than three") {
  /// Counts the records in its list, before and after it lists another.
  class counting final : public core::errand {
   public:
    explicit counting(std::vector<std::uint32_t>& to) : to_(to) {}
    void run(core::cell& self) override { to_.push_back(self.ext().timers.size()); }
    void turned_away() noexcept override {}

   private:
    std::vector<std::uint32_t>& to_;
  };
  fixture f;
  constexpr int fired = 3000;
  for (int i = 0; i < fired; ++i) send(f.c, after_ms{i / 100, i});
  f.kit.run_for(duration::seconds(1));
  REQUIRE(f.out->size() == fired);
  std::vector<std::uint32_t> sizes;
  for (int i = 0; i < fired; ++i) {
    send(f.c, after_ms{3'600'000, 0});
    f.kit.run();
    core::send_errand(f.c.address(), std::make_unique<counting>(sizes));
    f.kit.run();
    if (i > 0) REQUIRE(sizes.back() + 2 >= sizes[sizes.size() - 2]);
  }
  CHECK(sizes.front() > fired / 2);
  CHECK(sizes.back() < fired + 16);
  f.kit.exit(f.c);
}

TEST_CASE("a periodic send without a period is refused: its actor fails and is told why") {
  for (const std::int64_t ms : {0, -5}) {
    fixture f;
    send(f.c, every_ms{ms, 1});
    f.kit.run_for(duration::seconds(1));
    f.kit.expect_down(f.c, exit_code::unhandled_exception);
    CHECK(f.out->empty());
    CHECK(f.kit.timers_pending() == 0);
    REQUIRE(f.kit.failures().size() == 1);
    CHECK(f.kit.failures()[0].find("send_every(): the period must be above zero") !=
          std::string::npos);
  }
}

TEST_CASE(
    "a receiver that is late finds a thousand beats; the rest are dead letters, and later beats "
    "come again") {
  fixture f;
  send(f.c, every_ms{1, 1});
  f.kit.run();
  CHECK(f.kit.advance(duration::milliseconds(1500)) == 1500);
  CHECK(f.kit.dead_letters().size() == 500);
  const auto letter = f.kit.expect_dead_letter<tick>(errc::overload);
  CHECK(letter.reason.detail().find("periodic") != std::string_view::npos);
  f.kit.run();
  CHECK(f.out->size() == 1000);
  f.kit.run_for(duration::milliseconds(10));
  CHECK(f.out->size() == 1010);
  CHECK(f.kit.dead_letters().size() == 500);
  for (int i = 1; i < 500; ++i) f.kit.expect_dead_letter<tick>(errc::overload);
}

namespace {

/// Counts how often one is copied.
struct beat {
  using garrick_sendable = void;
  static inline int copies = 0;
  static inline bool copies_fail = false;

  beat() = default;
  beat(beat&&) = default;
  beat(const beat& o) : text(o.text) {
    ++copies;
    if (copies_fail) throw std::runtime_error("no copy today");
  }
  beat& operator=(beat&&) = default;
  std::string text{"more than fits into a string without an allocation"};
};

/// Sends a beat to `to` every 10 ms, as long as a handle to it exists.
any_ref start_beats(test_system& kit, const any_ref& to) {
  return kit.spawn(lent([to](dynamic_actor& self) {
    self.send_every(duration::milliseconds(10), to, beat());
    self.become([](int) {});
  }));
}

}  // namespace

TEST_CASE("a periodic message is not copied for a handler that only reads it") {
  test_system kit{3};
  int heard = 0;
  beat::copies = 0;
  const any_ref receiver = kit.spawn(lent([&heard](dynamic_actor&) -> behavior {
    return {[&heard](const beat& b) { heard += b.text.starts_with("more"); }};
  }));
  const any_ref sender = start_beats(kit, receiver);
  kit.run_for(duration::milliseconds(55));
  CHECK(heard == 5);
  CHECK(beat::copies == 0);
}

TEST_CASE("a periodic message is copied on the turn of a receiver that wants its own") {
  test_system kit{3};
  int heard = 0;
  beat::copies = 0;
  const any_ref receiver = kit.spawn(lent([&heard](dynamic_actor&) -> behavior {
    return {[&heard](beat& b) {
      heard += b.text.starts_with("more");
      b.text = "mine";
    }};
  }));
  const any_ref sender = start_beats(kit, receiver);
  kit.run();
  kit.advance(duration::milliseconds(35));  // the clock has done its part, the receiver has not
  CHECK(beat::copies == 0);
  kit.run();
  CHECK(heard == 3);
  CHECK(beat::copies == 3);
  beat::copies_fail = true;
  kit.run_for(duration::milliseconds(10));
  beat::copies_fail = false;
  kit.expect_down(receiver, exit_code::unhandled_exception);
  REQUIRE(kit.failures().size() == 1);
  CHECK(kit.failures()[0].find("no copy today") != std::string::npos);
}

}  // namespace timers_test
