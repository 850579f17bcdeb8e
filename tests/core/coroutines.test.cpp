// Coroutine handlers: co_await requests, tasks and delays; bounded stack; exceptions; the actor
// ends while it waits; interleaving. Only forms that GCC 12 compiles right.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace coroutines_test {

namespace {

using namespace garrick;

struct number {
  int x;
};
struct text {
  std::string s;
};
struct hold {};
struct free_all {};
using source = protocol<result<int>(number), std::string(text), result<int>(hold), void(free_all)>;

class source_actor : public actor<source> {
  std::vector<response_promise<int>> kept_;

 public:
  result<int> on(number n) {
    if (n.x < 0) return make_error(errc::user, "source", "negative");
    return n.x * 2;
  }
  std::string on(text t) { return t.s + t.s; }
  result<int> on(hold) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(free_all) {
    for (auto& p : kept_) p.deliver(1);
    kept_.clear();
  }
};

struct one {
  int x;
};
struct both {
  std::string s;
  int x;
};
struct nested {
  int x;
};
struct many {
  int n;
};
struct fails {};
struct fails_inside {};
struct forever {};
struct plain {};
struct pause_ms {
  int ms;
};
struct handed_on {};
struct stored {};
using front = protocol<int(one), result<std::string>(both), int(nested), int(many), int(fails),
                       int(fails_inside), int(forever), int(plain), void(pause_ms), int(handed_on),
                       int(stored)>;

/// Counts itself: objects in a frame must be released exactly once.
struct witness {
  std::shared_ptr<std::atomic<int>> alive;
  explicit witness(std::shared_ptr<std::atomic<int>> a) : alive(std::move(a)) { ++*alive; }
  witness(const witness&) = delete;
  ~witness() { --*alive; }
};

class front_actor : public actor<front> {
  ref<source> to_;
  std::shared_ptr<std::atomic<int>> alive_;
  int plain_ = 0;
  response_promise<int> kept_;

 public:
  explicit front_actor(
      ref<source> to,
      std::shared_ptr<std::atomic<int>> alive = std::make_shared<std::atomic<int>>(0),
      bool interleaved = false)
      : to_(std::move(to)), alive_(std::move(alive)) {
    interleave(interleaved);
  }

  task<int> on(one m) {
    const result<int> r = co_await request<number>(to_, m.x);
    co_return r.has_value() ? *r + 1 : -1;
  }
  task<result<std::string>> on(both m) {
    const witness w(alive_);
    result<std::string> a = co_await request<text>(to_, m.s);
    if (!a) co_return a.error();
    const result<int> b = co_await request<number>(to_, m.x);
    if (!b) co_return b.error();
    co_return *a + std::to_string(*b);
  }
  task<int> twice(int x) {
    const result<int> r = co_await request<number>(to_, x);
    co_return *r;
  }
  task<int> deep(int depth, int x) {
    if (depth == 0) {
      const result<int> r = co_await twice(x);
      co_return *r;
    }
    const result<int> r = co_await deep(depth - 1, x);
    co_return *r + 1;
  }
  task<int> on(nested m) {
    const result<int> r = co_await deep(10, m.x);
    co_return *r;
  }
  task<int> immediate(int x) { co_return x; }
  task<int> on(many m) {
    int sum = 0;
    for (int i = 0; i < m.n; ++i) {
      const result<int> r = co_await immediate(1);
      sum += *r;
    }
    co_return sum;
  }
  task<int> on(fails) {
    const witness w(alive_);
    const result<int> r = co_await request<number>(to_, 1);
    if (r) throw std::runtime_error("after the answer");
    co_return 0;
  }
  task<int> throwing() {
    const witness w(alive_);
    throw std::runtime_error("inside");
    co_return 0;
  }
  task<int> on(fails_inside) {
    int caught = 0;
    try {
      const result<int> r = co_await throwing();
      caught = *r;
    } catch (const std::runtime_error& e) { caught = std::string(e.what()) == "inside" ? 5 : 6; }
    co_return caught;
  }
  task<int> on(forever) {
    const witness w(alive_);
    const result<int> r = co_await request<hold>(to_);
    co_return r.has_value() ? *r : -1;
  }
  int on(plain) { return ++plain_; }
  task<void> on(pause_ms m) {
    const witness w(alive_);
    const result<void> r = co_await delay(duration::milliseconds(m.ms));
    CHECK(r.has_value());
  }
  task<result<int>> on(handed_on) {
    static_cast<void>(co_await request<number>(to_, 1));
    co_return delegate(to_, number{21});
  }
  task<result<int>> on(stored) {
    static_cast<void>(co_await request<number>(to_, 1));
    kept_ = make_promise<int>();
    send(to_, free_all{});
    result<int> r(kept_);
    kept_.deliver(77);
    co_return r;
  }
};

TEST_CASE("coroutine handler awaits a request and answers") {
  actor_system system;
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>());
  CHECK(system.request(a, one{20}).get().value() == 41);
  CHECK(system.request(a, one{-1}).get().value() == -1);
}

TEST_CASE("coroutine handler awaits several requests in turn; strings come through whole") {
  actor_system system;
  auto alive = std::make_shared<std::atomic<int>>(0);
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>(), lent(alive));
  const std::string s = "a string that does not fit into the small buffer ";
  CHECK(system.request(a, both{s, 4}).get().value() == s + s + "8");
  CHECK(system.request(a, both{s, -4}).get().error() == errc::user);
  CHECK(alive->load() == 0);
}

TEST_CASE("coroutine handler awaits nested tasks") {
  actor_system system;
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>());
  CHECK(system.request(a, nested{100}).get().value() == 210);
}

TEST_CASE("a loop of 100,000 awaits that finish at once needs no deeper stack") {
  actor_system system;
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>());
  CHECK(system.request(a, many{100'000}).get().value() == 100'000);
}

TEST_CASE(
    "exception in a nested task reaches the awaiting one; outside, it fails the actor and the "
    "requester") {
  actor_system system({.log = {.level = system::log_level::off}});
  auto alive = std::make_shared<std::atomic<int>>(0);
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>(), lent(alive));
  CHECK(system.request(a, fails_inside{}).get().value() == 5);
  const error why = system.request(a, fails{}).get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(why.detail().find("after the answer") != std::string_view::npos);
  REQUIRE(alive->load() == 0);
}

TEST_CASE(
    "a message is a dead letter with its type, sender and reason if its coroutine throws, after a "
    "suspension or before") {
  testkit::test_system kit(3);
  const auto to = kit.spawn<source_actor>();
  const auto asked = kit.spawn<front_actor>(to);
  const auto sent = kit.spawn<front_actor>(to);
  core::scoped_actor me(kit.env());
  CHECK(me->get(me->request(asked, fails{})).error() == errc::receiver_failed);
  me->send(sent, fails{});
  kit.run();
  for (const auto& receiver : {asked, sent}) {
    const auto letter = kit.expect_dead_letter<fails>(errc::receiver_failed);
    CHECK(letter.receiver == receiver.id());
    CHECK(letter.sender == me->id());
    CHECK(letter.content == "(gone: a coroutine has handled it, or it was sent to another node)");
    CHECK(letter.reason.detail().find("after the answer") != std::string_view::npos);
  }
  const auto at_once = kit.spawn([](dynamic_actor&) -> behavior {
    return {[](int x) -> task<void> {
      if (x == 0) throw std::runtime_error("at once");
      co_return;
    }};
  });
  send(at_once, 0);
  kit.run();
  CHECK(kit.expect_dead_letter<int>(errc::receiver_failed).receiver == at_once.id());
  kit.expect_no_dead_letters();
}

TEST_CASE(
    "actor ends while its coroutine waits: the frame is destroyed, the requester gets an error") {
  actor_system system;
  auto alive = std::make_shared<std::atomic<int>>(0);
  const auto to = system.spawn<source_actor>();
  const auto a = system.spawn<front_actor>(to, lent(alive));
  auto waits = system.request(a, forever{});
  while (alive->load() == 0) std::this_thread::yield();
  system.exit(a);
  CHECK(waits.get().error() == errc::broken_promise);
  CHECK(alive->load() == 0);
  send(to, free_all{});  // the late answer finds no waiting frame
  CHECK(system.request(to, number{1}).get().value() == 2);
}

TEST_CASE("system ends while a coroutine waits") {
  auto alive = std::make_shared<std::atomic<int>>(0);
  {
    actor_system system;
    const auto a = system.spawn<front_actor>(system.spawn<source_actor>(), lent(alive));
    send(a, forever{});
    send(a, forever{});
    static_cast<void>(system.stop_now(duration::seconds(5)));
  }
  CHECK(alive->load() == 0);
}

TEST_CASE("other messages wait while a coroutine handler waits") {
  actor_system system;
  const auto to = system.spawn<source_actor>();
  const auto a = system.spawn<front_actor>(to);
  auto first = system.request(a, forever{});
  CHECK(system.request(a, plain{}, duration::milliseconds(3)).get().error() == errc::timeout);
  send(to, free_all{});
  CHECK(first.get().value() == 1);
  CHECK(system.request(a, plain{}).get().value() == 2);
}

TEST_CASE("interleaving: other messages are handled while a coroutine handler waits") {
  actor_system system;
  auto alive = std::make_shared<std::atomic<int>>(0);
  const auto to = system.spawn<source_actor>();
  const auto a = system.spawn<front_actor>(to, lent(alive), true);
  auto first = system.request(a, forever{});
  auto second = system.request(a, forever{});
  CHECK(system.request(a, plain{}).get().value() == 1);
  CHECK(alive->load() == 2);
  send(to, free_all{});
  CHECK(first.get().value() == 1);
  CHECK(second.get().value() == 1);
}

TEST_CASE("co_await of a delay resumes after the time") {
  actor_system system;
  auto alive = std::make_shared<std::atomic<int>>(0);
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>(), lent(alive));
  const instant before = base::real_clock().now();
  CHECK(system.request(a, pause_ms{3}).get().has_value());
  CHECK(base::real_clock().now() - before >= duration::milliseconds(3));
  // and is forgotten with its actor
  send(a, pause_ms{3'600'000});
  while (alive->load() == 0) std::this_thread::yield();
  system.exit(a);
  REQUIRE(system.await_all(duration::milliseconds(0)).still_alive.size() <= 2);
  while (alive->load() != 0) std::this_thread::yield();
}

TEST_CASE("coroutine handler may delegate, or keep a promise") {
  actor_system system;
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>());
  CHECK(system.request(a, handed_on{}).get().value() == 42);
  CHECK(system.request(a, stored{}).get().value() == 77);
}

TEST_CASE("a plain send to a coroutine handler runs it, too") {
  actor_system system;
  const auto a = system.spawn<front_actor>(system.spawn<source_actor>());
  for (int i = 0; i < 100; ++i) send(a, one{i});
  CHECK(system.request(a, one{1}).get().value() == 3);
  CHECK(system.dead_letter_count() == 0);
}

TEST_CASE("dynamic behaviors may be coroutines") {
  actor_system system;
  const auto to = system.spawn<source_actor>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, ref<source> target) -> behavior {
        auto shared = std::make_shared<ref<source>>(std::move(target));
        return {[&self, shared](number n) -> task<int> {
          // a capture lives in the behavior, which may change: an object that outlives a suspension
          // is copied into the frame
          const ref<source> t = *shared;
          const result<int> r = co_await self.request<number>(t, n.x);
          co_return r.has_value() ? *r : -1;
        }};
      },
      to);
  CHECK(system.request_as<int>(a, number{8}).get().value() == 16);
}

TEST_CASE("a time-out of an awaited request is an error value") {
  actor_system system;
  const auto to = system.spawn<source_actor>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, ref<source> target) -> behavior {
        auto shared = std::make_shared<ref<source>>(std::move(target));
        return {[&self, shared](int) -> task<bool> {
          auto pending = self.request(*shared, hold{}, duration::milliseconds(2));
          const result<int> r = co_await std::move(pending);
          co_return r.error() == errc::timeout;
        }};
      },
      to);
  CHECK(system.request_as<bool>(a, 1).get().value());
}

class prepared : public actor<protocol<int(number)>> {
  ref<source> from_;
  int base_ = -1;

 public:
  explicit prepared(ref<source> from) : from_(std::move(from)) {}
  task<> on_start() {
    const result<int> got = co_await request<number>(from_, 21);
    if (got) base_ = *got;
  }
  int on(number n) const { return base_ + n.x; }
};

TEST_CASE("on_start may be a coroutine: messages wait until it is done") {
  testkit::test_system kit;
  const auto s = kit.spawn<source_actor>();
  const auto p = kit.spawn<prepared>(s);
  CHECK(kit.request(p, number{1}).get().value() == 43);
}

class unprepared : public actor<protocol<int(number)>> {
 public:
  task<> on_start() {
    static_cast<void>(co_await delay(duration::milliseconds(1)));
    throw std::runtime_error("not today");
  }
  int on(number n) const { return n.x; }
};

TEST_CASE("an exception that leaves the coroutine on_start ends the actor with its text") {
  testkit::test_system kit;
  const auto p = kit.spawn<unprepared>();
  std::string why;
  const auto watcher = kit.spawn(lent([&why, p](dynamic_actor& self) -> behavior {
    self.monitor(p, [&why](const down& d) { why = d.reason.to_string(); });
    return {[](int) {}};
  }));
  kit.run_for(duration::milliseconds(2));
  CHECK(why.find("not today") != std::string::npos);
  const result<int> late = kit.request(p, number{1}).get();
  REQUIRE_FALSE(late.has_value());
  CAPTURE(late.error().to_string());
  CHECK(late.error() == errc::not_handled);
}

}  // namespace

}  // namespace coroutines_test
