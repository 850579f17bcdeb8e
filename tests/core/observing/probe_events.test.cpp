// The events of a probe for waits for room, runs in place, timers and overdue requests: each once,
// with the actors concerned.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace probe_events_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct item {
  int n;
};
struct question {
  int n;
};
struct go {};

struct event {
  enum class what : std::uint8_t { waits, goes_on, in_place, timer, timed_out } kind;
  std::uint64_t first, second;
  bool operator==(const event&) const = default;
};
using what = event::what;

class notes final : public base::probe {
 public:
  std::atomic<int> waits{0};

  void on_sender_waits(std::uint64_t receiver, std::uint64_t sender) noexcept override {
    add({what::waits, receiver, sender});
    ++waits;
    waits.notify_all();
  }
  void on_sender_goes_on(std::uint64_t receiver, std::uint64_t sender) noexcept override {
    add({what::goes_on, receiver, sender});
  }
  void on_run_in_place(std::uint64_t receiver, std::uint64_t sender) noexcept override {
    add({what::in_place, receiver, sender});
  }
  void on_timer_fired(std::uint64_t receiver, const base::message_type* type) noexcept override {
    add({what::timer, receiver, type == &base::message_type_of<item> ? 1u : 0u});
  }
  void on_request_timed_out(std::uint64_t requester, std::uint64_t receiver) noexcept override {
    add({what::timed_out, requester, receiver});
  }

  [[nodiscard]] std::vector<event> all() {
    const std::lock_guard guard(mutex_);
    return all_;
  }
  [[nodiscard]] std::ptrdiff_t count(const event& e) {
    const std::lock_guard guard(mutex_);
    return std::count(all_.begin(), all_.end(), e);
  }
  [[nodiscard]] std::ptrdiff_t count(what kind) {
    const std::lock_guard guard(mutex_);
    return std::count_if(all_.begin(), all_.end(), [&](const event& e) { return e.kind == kind; });
  }

 private:
  void add(event e) noexcept {
    const std::lock_guard guard(mutex_);
    all_.push_back(e);
  }
  std::mutex mutex_;
  std::vector<event> all_;
};

using asked = protocol<int(question)>;

/// Answers late, never, or with an error of that name.
class answering : public actor<asked> {
 public:
  result<int> on(question q) {
    if (q.n < 0) return errc::timeout;
    response_promise<int> p = make_promise<int>();
    if (q.n == 0)
      kept_.push_back(std::move(p));
    else
      p.deliver(q.n);
    return p;
  }

 private:
  std::vector<response_promise<int>> kept_;
};

class asking : public actor<protocol<void(go), void(item)>> {
 public:
  explicit asking(ref<asked> to) : to_(std::move(to)) {}
  void on(go) {
    for (const int n : {0, 1, -1})
      request(to_, question{n})
          .within(duration::seconds(5))
          .then([](int) {}, [this](const error& e) { late_ += e == errc::timeout ? 1 : 0; });
    once_ = send_after(duration::seconds(1), self(), item{1});
    cancelled_ = send_after(duration::seconds(2), self(), item{2});
    cancelled_.cancel();
    beat_ = send_every(duration::seconds(10), self(), item{3});
  }
  void on(item i) {
    if (i.n == 3 && ++beats_ == 3) beat_.cancel();
  }

 private:
  ref<asked> to_;
  timer once_, cancelled_, beat_;
  int late_ = 0;
  int beats_ = 0;
};

}  // namespace

TEST_CASE("a probe hears of timers that fire, and of requests that time out") {
  notes heard;
  test_system kit({.probe = &heard});
  const auto to = kit.spawn<answering>();
  const auto from = kit.spawn<asking>(to);
  send(from, go{});
  kit.run_for(duration::seconds(60));
  CHECK(heard.count({what::timer, from.id(), 1}) == 4);  // one delayed, three beats
  CHECK(heard.count({what::timer, from.id(), 0}) == 1);  // the time limit
  CHECK(heard.count({what::timed_out, from.id(), to.id()}) == 1);
  CHECK(heard.all().size() == 6);
  kit.kill(to);  // which holds a promise
}

TEST_CASE("a request from a thread that is not answered in time is told, too") {
  notes heard;
  test_system kit({.probe = &heard});
  const auto to = kit.spawn<answering>();
  CHECK(kit.request(to, question{0}, duration::seconds(5)).get().error() == errc::timeout);
  CHECK(heard.count(what::timed_out) == 1);
  CHECK(kit.request(to, question{-1}, duration::seconds(5)).get().error() == errc::timeout);
  CHECK(heard.count(what::timed_out) == 1);
}

namespace {

/// Awaits two answers that do not come, the second one inside the wait for the first.
class awaiting_two : public actor<protocol<void(go)>> {
 public:
  awaiting_two(ref<asked> to, duration first, duration second)
      : to_(std::move(to)), limits_{first, second} {}
  void on(go) {
    for (const duration limit : limits_)
      request(to_, question{0}, limit).await([](int) {}, [](const error&) {});
  }

 private:
  ref<asked> to_;
  duration limits_[2];
};

}  // namespace

TEST_CASE("a probe hears once of each time limit, also of one that is over before another's") {
  for (const auto& [first, second] : {std::pair(1, 2), {2, 1}, {0, 1}, {0, 0}, {1, 0}}) {
    CAPTURE(first);
    CAPTURE(second);
    notes heard;
    test_system kit({.probe = &heard});
    const auto to = kit.spawn<answering>();
    const auto from =
        kit.spawn<awaiting_two>(to, duration::seconds(first), duration::seconds(second));
    send(from, go{});
    kit.run_for(duration::seconds(60));
    CHECK(heard.count({what::timed_out, from.id(), to.id()}) == 2);
    kit.kill(to);
  }
}

namespace {

using box = protocol<void(item)>;

struct counter : actor<box> {
  void on(item) {}
};

struct flooder : actor<protocol<void(go)>> {
  ref<box> to;
  int n;
  flooder(ref<box> t, int messages) : to(std::move(t)), n(messages) {}
  void on(go) {
    for (int i = 0; i != n; ++i) send(to, item{i});
    quit();
  }
};

settings small(base::probe& p) {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = 8;
  o.probe = &p;
  return o;
}

}  // namespace

TEST_CASE("a probe hears of receivers that run in place, and of no wait then") {
  notes heard;
  actor_system system(small(heard));
  auto to = system.spawn<counter>();
  const std::uint64_t receiver = to.id();
  auto from = system.spawn<flooder>(std::move(to), 100);
  const std::uint64_t sender = from.id();
  send(std::exchange(from, {}), go{});
  static_cast<void>(system.await_all());
  CHECK(heard.count({what::in_place, receiver, sender}) >= 100 / 16);
  CHECK(heard.count({what::in_place, receiver, sender}) == heard.count(what::in_place));
  CHECK(heard.count(what::waits) == 0);
}

namespace {

/// Blocks until a sender waits for it.
struct slow : actor<box> {
  notes& heard;
  explicit slow(notes& h) : heard(h) {}
  void on(item) { heard.waits.wait(0); }
};

}  // namespace

TEST_CASE("a probe hears when a sender begins to wait for room, and when it goes on") {
  for (const bool by_actor : {false, true}) {
    CAPTURE(by_actor);
    notes heard;
    actor_system system(small(heard));
    auto to = system.spawn<slow>(lent(heard));
    const std::uint64_t receiver = to.id();
    std::uint64_t sender = 0;
    if (by_actor) {
      auto from = system.spawn<flooder>(spawn_options{.detached = true}, std::move(to), 100);
      sender = from.id();
      send(std::exchange(from, {}), go{});
    } else {
      for (int i = 0; i != 100; ++i) send(to, item{i});
      to = {};
    }
    static_cast<void>(system.await_all());
    const auto waits = heard.count({what::waits, receiver, sender});
    CHECK(waits >= 1);
    CHECK(waits == heard.count(what::waits));
    CHECK(heard.count({what::goes_on, receiver, sender}) == waits);
    CHECK(heard.count(what::goes_on) == waits);
    // they alternate, since there is one sender
    bool waiting = false;
    for (const event& e : heard.all()) {
      if (e.kind != what::waits && e.kind != what::goes_on) continue;
      CHECK((e.kind == what::waits) == !waiting);
      waiting = !waiting;
    }
  }
}

namespace {

struct patient_sender : actor<protocol<void(go)>> {
  ref<box> to;
  explicit patient_sender(ref<box> t) : to(std::move(t)) {}
  garrick::task<> on(go) {
    for (int i = 0; i != 4; ++i) {
      auto sent = send_when_room(to, item{i});
      if (!co_await std::move(sent)) break;
    }
  }
};

}  // namespace

TEST_CASE("a probe hears of coroutines that wait for room, and of the end of their waits") {
  for (const bool ends : {false, true}) {
    CAPTURE(ends);
    notes heard;
    test_system kit({.probe = &heard});
    const auto to = kit.spawn<counter>(spawn_options{.policy = mailbox_policy::reject, .bound = 1});
    std::vector<ref<protocol<void(go)>>> senders;
    for (int i = 0; i != 5; ++i) {
      senders.push_back(kit.spawn<patient_sender>(to));
      send(senders.back(), go{});
    }
    CHECK(kit.run_until([&] { return heard.count(what::waits) > heard.count(what::goes_on); }));
    if (ends) kit.kill(to);
    kit.run();
    std::ptrdiff_t sum = 0;
    for (const auto& from : senders) {
      const auto waits = heard.count({what::waits, to.id(), from.id()});
      CHECK(heard.count({what::goes_on, to.id(), from.id()}) == waits);
      sum += waits;
    }
    CHECK(sum != 0);
    CHECK(heard.all().size() == static_cast<std::size_t>(2 * sum));
  }
}

}  // namespace probe_events_test
