// Mail that waits while an actor awaits a response: it stays where it is, in its order, and costs
// nothing.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/in_child.hpp"

namespace awaiting_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct ask {
  int n;
};
struct release {};
using source = protocol<int(ask), void(release)>;

/// Answers positive questions at once, and negative ones in their order when it is told to.
class source_actor : public actor<source> {
  std::vector<int> asked_;
  std::vector<response_promise<int>> kept_;

 public:
  result<int> on(ask a) {
    if (a.n >= 0) return a.n;
    asked_.push_back(a.n);
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(release) {
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i].deliver(asked_[i]);
    kept_.clear();
    asked_.clear();
  }
};

struct job {
  int n;
};
struct finish {};
using worker = protocol<void(job), int(finish)>;

class awaiting_worker : public actor<worker> {
  ref<source> to_;
  int done_ = 0;

 public:
  explicit awaiting_worker(ref<source> to) : to_(std::move(to)) {}
  void on(job j) {
    request(to_, ask{j.n}).await([this](int) { ++done_; });
  }
  int on(finish) { return done_; }
};

class coroutine_worker : public actor<worker> {
  ref<source> to_;
  int done_ = 0;

 public:
  explicit coroutine_worker(ref<source> to) : to_(std::move(to)) {}
  task<> on(job j) {
    const result<int> r = co_await request<ask>(to_, j.n);
    if (r) ++done_;
  }
  int on(finish) { return done_; }
};

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processor time to drain n messages that all wait before the first is handled. The handler of
/// each awaits a response.
template <class Worker>
double drain(int n) {
  actor_system system;
  const auto to = system.spawn<source_actor>();
  const auto w = system.spawn<Worker>(to);
  send(w, job{-1});  // awaits until all have been sent
  for (int i = 1; i < n; ++i) send(w, job{i});
  const double before = processor_seconds();
  send(to, release{});
  REQUIRE(system.request(w, finish{}, std::chrono::seconds(100)).get().value() == n);
  return processor_seconds() - before;
}

template <class Worker>
double best_drain(int n) {
  double best = drain<Worker>(n);
  for (int i = 0; i < 2; ++i) best = std::min(best, drain<Worker>(n));
  return best;
}

using ints = std::vector<int>;

/// An actor that acts as each test says, and notes its messages.
struct step {
  int n;
};
class scripted : public actor<protocol<void(step), void(job)>> {
 public:
  using script = std::function<void(scripted&, int)>;
  std::shared_ptr<ints> seen;

  scripted(std::shared_ptr<script> what, std::shared_ptr<ints> log)
      : seen(std::move(log)), what_(std::move(what)) {}
  void on(step s) { (*what_)(*this, s.n); }
  void on(job j) { seen->push_back(j.n); }
  void ask_and_await(const ref<source>& to, int n) {
    request(to, ask{n})
        .await([this](int x) { seen->push_back(x); },
               [this](const error&) { seen->push_back(-99); });
  }
  void ask_then(const ref<source>& to, int n) {
    request(to, ask{n}).then([this](int x) { seen->push_back(x); });
  }
  void ask_and_keep(const ref<source>& to, int n) {
    kept_ = std::make_unique<pending_response<int>>(request(to, ask{n}));
  }
  void await_kept() {
    std::move(*kept_).await([this](int x) { seen->push_back(x); });
    kept_.reset();
  }
  void then_kept() {
    std::move(*kept_).then([this](int x) { seen->push_back(x); });
    kept_.reset();
  }

 private:
  std::shared_ptr<script> what_;
  std::unique_ptr<pending_response<int>> kept_;
};

struct fixture {
  test_system kit;
  explicit fixture(std::uint64_t seed) : kit(seed) {}
  std::shared_ptr<ints> seen = std::make_shared<ints>();
  ref<source> to = kit.spawn<source_actor>();

  auto spawn(scripted::script s, spawn_options o = {}) {
    return kit.spawn<scripted>(std::move(o), lent(std::make_shared<scripted::script>(std::move(s))),
                               lent(seen));
  }
};

}  // namespace

TEST_CASE("a message that awaits costs the same however many wait behind it") {
  // eight times as many cost about eight times as much; 64 times if each touched those that wait
  constexpr int n = HAS_SANITIZER ? 1'250 : 12'500;
  SUBCASE("await") {
    CHECK(best_drain<awaiting_worker>(8 * n) < 32 * best_drain<awaiting_worker>(n));
  }
  SUBCASE("co_await") {
    CHECK(best_drain<coroutine_worker>(8 * n) < 32 * best_drain<coroutine_worker>(n));
  }
}

TEST_CASE("mail keeps its order around an await, and so does a response to then") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    fixture f(seed);
    const auto a = f.spawn([&](scripted& self, int n) {
      if (n == 1) self.ask_then(f.to, -7);
      if (n == 2) self.ask_and_await(f.to, -8);
    });
    send(a, step{1});
    f.kit.run();
    for (int i = 0; i < 3; ++i) send(a, job{i});
    send(a, step{2});
    for (int i = 3; i < 6; ++i) send(a, job{i});
    f.kit.run();
    CHECK(*f.seen == ints{0, 1, 2});
    send(f.to, release{});  // answers -7, which has to wait behind the mail, then -8
    f.kit.run();
    CHECK(*f.seen == ints{0, 1, 2, -8, 3, 4, 5, -7});
  }
}

TEST_CASE("urgent mail waits for an await, too, and is first afterwards") {
  fixture f(3);
  const auto a = f.spawn([&](scripted& self, int) { self.ask_and_await(f.to, -1); });
  send(a, step{1});
  f.kit.run();
  send(a, job{1});
  send_urgent(a, job{2});
  f.kit.run();
  CHECK(f.seen->empty());
  send(f.to, release{});
  f.kit.run();
  CHECK(*f.seen == ints{-1, 2, 1});
}

TEST_CASE("several awaits: the newest first, whichever answer comes first") {
  fixture f(4);
  const auto a = f.spawn([&](scripted& self, int) {
    for (int i = 1; i <= 3; ++i) self.ask_and_await(f.to, -i);
  });
  send(a, step{1});
  f.kit.run();
  send(a, job{5});
  send(f.to, release{});  // answers the oldest first
  f.kit.run();
  CHECK(*f.seen == ints{-3, -2, -1, 5});
}

TEST_CASE("a response that was in the mailbox before its await is found there") {
  fixture f(5);
  const auto a = f.spawn([&](scripted& self, int n) {
    if (n == 1) self.ask_and_keep(f.to, -4);
    if (n == 2) self.await_kept();
  });
  send(a, step{1});
  f.kit.run();
  send(a, step{2});
  send(a, job{1});
  send(f.to, release{});
  f.kit.expect<release>().to(f.to);
  send(a, job{2});
  CHECK(f.kit.mailbox(a).size() == 4);  // all have arrived: the awaiting step, 1, the response, 2
  f.kit.expect<step>().to(a);
  f.kit.run();
  CHECK(*f.seen == ints{-4, 1, 2});
}

TEST_CASE("a response that has passed an await and is then left to `then` comes after all awaits") {
  fixture f(5);
  const auto last = f.kit.spawn<source_actor>();
  const auto a = f.spawn([&](scripted& self, int) {
    self.ask_and_await(last, -1);
    self.request(f.to, ask{-2}).await([&self](int x) {
      self.seen->push_back(x);
      self.then_kept();
    });
    self.ask_and_keep(f.to, -3);
  });
  send(a, step{1});
  f.kit.run();
  send(a, job{4});
  send(f.to, release{});
  f.kit.expect<release>().to(f.to);  // both responses are there before the actor looks
  f.kit.run();
  CHECK(*f.seen == ints{-2});
  send(last, release{});
  f.kit.run();
  CHECK(*f.seen == ints{-2, -1, -3, 4});
}

TEST_CASE("a bounded mailbox takes no more while its actor awaits, and always a response") {
  fixture f(6);
  const auto a = f.spawn(
      [&](scripted& self, int n) {
        if (n == 1) self.ask_then(f.to, -5);
        if (n == 2) self.ask_and_await(f.to, -6);
      },
      spawn_options{.policy = mailbox_policy::reject, .bound = 3});
  send(a, step{1});
  f.kit.run();
  send(a, step{2});
  f.kit.run();
  for (int i = 0; i < 10; ++i) {
    send(a, job{i});
    f.kit.run();
  }
  f.kit.expect_dead_letter<job>(errc::overload);
  CHECK(f.kit.mailbox(a).size() <= 3);
  send(f.to, release{});
  f.kit.run();
  CHECK(*f.seen == ints{-6, 0, 1, 2, -5});
}

TEST_CASE("waiting messages survive a restart in the middle of an await") {
  fixture f(7);
  const auto top = f.kit.spawn<supervisor>();
  auto script = std::make_shared<scripted::script>(
      [&](scripted& self, int) { self.ask_and_await(f.to, -1); });
  const auto a =
      core::supervise<scripted>(top, child_options{}, lent(std::shared_ptr(script)), lent(f.seen));
  send(a, step{1});
  f.kit.run();
  for (int i = 1; i <= 3; ++i) send(a, job{i});
  f.kit.run();
  f.kit.kill(a);
  f.kit.run();
  CHECK(*f.seen == ints{1, 2, 3});
  send(f.to, release{});  // the answer to the one before: too late
  f.kit.run();
  CHECK(f.seen->size() == 3);
}

TEST_CASE("an await that is over in time lets the mail go on, and the late answer is ignored") {
  fixture f(8);
  const auto a = f.spawn([&](scripted& self, int) {
    self.request(f.to, ask{-1})
        .within(std::chrono::milliseconds(5))
        .await([](int) {},
               [&](const error& e) { self.seen->push_back(e == errc::timeout ? 100 : 200); });
  });
  send(a, step{1});
  send(a, job{1});
  f.kit.run_for(std::chrono::milliseconds(10));
  CHECK(*f.seen == ints{100, 1});
  send(f.to, release{});
  send(a, job{2});
  f.kit.run();
  CHECK(*f.seen == ints{100, 1, 2});
}

TEST_CASE(
    "a message that was skipped is tried again when the behavior changes, not after each await") {
  test_system kit(9);
  const auto to = kit.spawn<source_actor>();
  auto tries = std::make_shared<int>(0);
  const auto a = kit.spawn(
      lent([tries](dynamic_actor& self, ref<source> s) -> behavior {
        self.set_unmatched(unmatched::skip);
        return {on(any<double>).when([tries](double) { return ++*tries > 100; }) >> [](double) {},
                [&self, s](job j) { self.request(s, ask{j.n}).await([](int) {}); },
                [&self](step) { self.become([](double) {}); }};
      }),
      ref<source>(to));
  send(a, 1.5);
  for (int i = 0; i < 5; ++i) send(a, job{i});
  kit.run();
  CHECK(*tries == 1);
  send(a, step{1});
  kit.run();
  CHECK(kit.mailbox(a).empty());
  kit.expect_no_dead_letters();
}

namespace {

/// Asks without a time limit that could be kept, and goes on by messages to itself. As a rule the
/// late answer comes while the time-out is handled. There is no other handle to it.
class impatient : public actor<protocol<void(job)>> {
  ref<source> to_;
  std::vector<int>& seen_;
  int steps_;

 public:
  impatient(ref<source> to, std::vector<int>& seen, int steps)
      : to_(std::move(to)), seen_(seen), steps_(steps) {}
  void on(job j) {
    seen_.push_back(j.n);
    request(to_, ask{1}).within(duration()).await([](int) {}, [](const error&) {});
    if (j.n != steps_) send(self(), job{j.n + 1});
  }
};

}  // namespace

TEST_CASE(
    "the mail goes on after an await with a late answer that ends the actor's share of time") {
  constexpr int steps = 20;
  std::vector<int> all(steps);
  std::iota(all.begin(), all.end(), 1);
  for (const bool is_held : {false, true})
    for (std::uint32_t quantum = 1; quantum <= 4; ++quantum)
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(is_held);
        CAPTURE(quantum);
        CAPTURE(seed);
        std::vector<int> seen;
        test_system kit(seed);
        const auto to = kit.spawn<source_actor>();
        auto asks =
            kit.spawn<impatient>(spawn_options{.quantum = quantum}, to, lent(seen), int{steps});
        send(asks, job{1});
        if (!is_held) asks = {};
        kit.run();
        CHECK(seen == all);
        kit.expect_no_dead_letters();
      }
}

}  // namespace awaiting_test
