// `mailbox_policy::drop_oldest`: whatever the receiver does, it keeps its newest messages, no more
// than its bound, and each message that goes is a dead letter.
#include <doctest/doctest.h>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace newest_mail_test {

namespace {

using namespace garrick;
using testkit::test_system;

using ints = std::vector<int>;

struct item {
  int n;
};
struct work {};
struct let_go {};
struct next_behavior {};
struct fail {};

spawn_options newest(std::uint32_t bound) {
  return {.policy = mailbox_policy::drop_oldest, .bound = bound};
}

using holder = protocol<int(work), void(let_go)>;
/// Answers when it is told to.
class holding_actor : public actor<holder> {
  std::vector<response_promise<int>> kept_;

 public:
  result<int> on(work) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(let_go) {
    for (auto& p : kept_) p.deliver(-1);
    kept_.clear();
  }
};

struct ask {
  bool await;
};
class asker : public actor<protocol<void(ask), void(item), void(fail)>> {
  ref<holder> to_;
  std::shared_ptr<ints> seen_;

 public:
  asker(ref<holder> to, std::shared_ptr<ints> seen) : to_(std::move(to)), seen_(std::move(seen)) {}
  void on(ask a) {
    const auto note = [this](int n) { seen_->push_back(n); };
    if (a.await)
      request(to_, work{}).await(note);
    else
      request(to_, work{}).then(note);
  }
  void on(item i) { seen_->push_back(i.n); }
  void on(fail) { throw 1; }
};

struct fixture {
  test_system kit{11};
  ref<holder> other = kit.spawn<holding_actor>();
  std::shared_ptr<ints> seen = std::make_shared<ints>();
  ref<asker::protocol_type> to;
  explicit fixture(std::uint32_t bound) : to(kit.spawn<asker>(newest(bound), other, lent(seen))) {}
  void flood(int from, int to_n) {
    for (int i = from; i < to_n; ++i) send(to, item{i});
  }
  /// Delivers the answer that `other` owes, before anything that is sent from now on.
  void answer() {
    send(other, let_go{});
    kit.expect<let_go>().to(other);
  }
};

/// An actor that has ended, so that a monitor of it brings a signal at once.
ref<holder> dead_actor(test_system& kit) {
  auto dead = kit.spawn<holding_actor>();
  kit.kill(dead);
  kit.run();
  return dead;
}

struct counting_sink : actor<protocol<void(item)>> {
  std::atomic<int>& handled;
  explicit counting_sink(std::atomic<int>& h) : handled(h) {}
  void on(item) { ++handled; }
};

/// Sends `rounds` messages, one after the other to an idle actor. False if one is not handled.
template <class Send>
bool handles_each_at_once(actor_system& system, int rounds, Send send_one) {
  std::atomic<int> handled{0};
  const auto to = system.spawn<counting_sink>(newest(8), lent(handled));
  for (int i = 0; i < rounds; ++i) {
    send_one(to, item{i});
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (handled <= i)
      if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("drop_oldest keeps its bound while a handler runs") {
  actor_system system;
  struct sink : actor<protocol<void(work), void(item)>> {
    std::shared_ptr<ints> seen;
    std::promise<void>& inside;
    std::shared_future<void> go_on;
    sink(std::shared_ptr<ints> s, std::promise<void>& i, std::shared_future<void> g)
        : seen(std::move(s)), inside(i), go_on(std::move(g)) {}
    void on(work) {
      inside.set_value();
      go_on.wait();
    }
    void on(item i) { seen->push_back(i.n); }
  };
  for (const std::uint32_t bound : {1u, 2u, 7u}) {
    const auto seen = std::make_shared<ints>();
    std::promise<void> inside;
    std::promise<void> go_on;
    const std::uint64_t before = system.dead_letter_count(errc::overload);
    auto to =
        system.spawn<sink>(newest(bound), lent(seen), lent(inside), go_on.get_future().share());
    send(to, work{});
    inside.get_future().wait();
    const int sent = 1000;
    for (int i = 0; i < sent; ++i) {
      send(to, item{i});
      REQUIRE(to.mailbox_length() <= bound);
    }
    CHECK(system.dead_letter_count(errc::overload) - before == sent - bound);
    go_on.set_value();
    to = {};
    REQUIRE(system.await_all(duration::seconds(60)).complete);
    ints last;
    for (int i = sent - static_cast<int>(bound); i < sent; ++i) last.push_back(i);
    CHECK(*seen == last);
  }
}

TEST_CASE("drop_oldest keeps its bound while the receiver awaits, and the answer costs no place") {
  for (const int bound : {1, 2, 5}) {
    fixture f(static_cast<std::uint32_t>(bound));
    send(f.to, ask{true});
    f.kit.run();
    for (int i = 0; i < 50; ++i) {
      f.flood(i, i + 1);
      f.kit.run();
      CHECK(f.to.mailbox_length() <= static_cast<std::uint32_t>(bound));
    }
    send(f.other, let_go{});
    f.kit.run();
    ints expected{-1};
    for (int i = 50 - bound; i < 50; ++i) expected.push_back(i);
    CHECK(*f.seen == expected);
    CHECK(f.kit.dead_letters().size() == static_cast<std::size_t>(50 - bound));
  }
}

TEST_CASE("with drop_oldest, a message that comes after a response is handled after it") {
  fixture f(10);
  send(f.to, ask{false});
  f.kit.run();
  f.flood(0, 2);
  send(f.other, let_go{});
  f.kit.expect<let_go>().to(f.other);
  f.flood(2, 4);
  f.kit.run();
  CHECK(*f.seen == ints{0, 1, -1, 2, 3});
}

TEST_CASE("with drop_oldest, urgent messages pass the others and go last") {
  fixture f(3);
  for (int i = 0; i < 100; ++i) {
    send(f.to, item{i});
    if (i % 50 == 49) send_urgent(f.to, item{1000 + i});
  }
  CHECK(f.to.mailbox_length() == 3);
  f.kit.run();
  CHECK(*f.seen == ints{1049, 1099, 99});
  CHECK(f.kit.dead_letters().size() == 99);
  for (int i = 0; i < 5; ++i) send_urgent(f.to, item{i});
  f.kit.run();
  CHECK(*f.seen == ints{1049, 1099, 99, 2, 3, 4});
}

TEST_CASE("with drop_oldest, what is skipped is the oldest, and is tried again in its order") {
  test_system kit(3);
  const auto seen = std::make_shared<ints>();
  auto to = kit.spawn(newest(4), lent([seen](dynamic_actor& self) -> behavior {
                        self.set_unmatched(unmatched::skip);
                        return {[&self, seen](next_behavior) {
                          self.become({[seen](item i) { seen->push_back(i.n); }});
                        }};
                      }));
  for (int i = 0; i < 3; ++i) {
    send(to, item{i});
    kit.run();
  }
  CHECK(to.mailbox_length() == 3);
  for (int i = 3; i < 6; ++i) send(to, item{i});
  CHECK(to.mailbox_length() == 4);
  kit.run();
  send(to, next_behavior{});  // pushes one more out
  kit.run();
  CHECK(*seen == ints{3, 4, 5});
  CHECK(kit.dead_letters().size() == 3);
  CHECK(to.mailbox_length() == 0);
}

TEST_CASE("with drop_oldest, a failure keeps the mail, and an end loses each message of it once") {
  test_system kit(3);
  const auto other = kit.spawn<holding_actor>();
  const auto seen = std::make_shared<ints>();
  const auto top = kit.spawn<supervisor>(supervision{.delay = {.first = duration::seconds(1)}});
  auto to =
      supervise<asker>(top, child_options{.spawn = newest(2)}, other, lent(std::shared_ptr(seen)));
  send(to, fail{});
  kit.run();
  for (int i = 0; i < 10; ++i) send(to, item{i});
  CHECK(to.mailbox_length() == 2);
  kit.run_for(duration::seconds(2));
  CHECK(*seen == ints{8, 9});
  const std::size_t before = kit.dead_letters().size();
  send(to, ask{true});
  kit.run();
  for (int i = 0; i < 3; ++i) send(to, item{i});
  kit.kill(top);
  kit.run();
  kit.expect_down(to, exit_code::user_shutdown);
  send(to, item{3});
  CHECK(kit.dead_letters().size() - before == 4);
  CHECK(*seen == ints{8, 9});
}

TEST_CASE("with drop_oldest, send_when_room and try_send always find room") {
  struct producer : actor<protocol<void(work)>> {
    ref<asker::protocol_type> to;
    std::shared_ptr<int> failed;
    producer(ref<asker::protocol_type> t, std::shared_ptr<int> f)
        : to(std::move(t)), failed(std::move(f)) {}
    task<void> on(work) {
      for (int i = 0; i < 10; ++i) {
        auto sent = send_when_room(to, item{i});
        const result<void> r = co_await std::move(sent);
        if (!r.has_value()) ++*failed;
      }
    }
  };
  fixture f(2);
  send(f.to, ask{true});
  f.kit.run();
  const auto failed = std::make_shared<int>(0);
  const auto p = f.kit.spawn<producer>(f.to, lent(failed));
  send(p, work{});
  f.kit.run();
  CHECK(*failed == 0);
  CHECK_FALSE(try_send(f.to, item{10}));
  CHECK(f.to.mailbox_length() == 2);
  send(f.other, let_go{});
  f.kit.run();
  CHECK(*f.seen == ints{-1, 9, 10});
  f.kit.kill(f.to);
  f.kit.run();
  CHECK(try_send(f.to, item{11}) == errc::not_handled);
}

TEST_CASE("with drop_oldest, a blocking actor receives the newest; what it skips is the oldest") {
  actor_system system;
  std::promise<void> filled;
  std::promise<ints> got;
  auto to = system.spawn(newest(3), lent([&](blocking_actor& self) {
                           ints seen;
                           filled.get_future().wait();
                           self.receive([](work) {});
                           for (int i = 0; i < 2; ++i)
                             self.receive([&](item n) { seen.push_back(n.n); });
                           got.set_value(seen);
                         }));
  for (int i = 0; i < 20; ++i) send(to, item{i});
  send(to, work{});
  CHECK(to.mailbox_length() == 3);
  filled.set_value();
  CHECK(got.get_future().get() == ints{18, 19});
}

TEST_CASE("with drop_oldest, each message of many senders is handled or a dead letter, in order") {
  constexpr int senders = 4;
  constexpr int each = 20'000;
  actor_system system;
  struct numbered {
    int sender;
    int n;
  };
  struct sink : actor<protocol<void(numbered), void(item)>> {
    std::shared_ptr<ints> seen;
    std::array<int, senders> last{};
    std::shared_ptr<bool> in_order;
    sink(std::shared_ptr<ints> s, std::shared_ptr<bool> o)
        : seen(std::move(s)), in_order(std::move(o)) {
      last.fill(-1);
    }
    void on(numbered m) {
      int& before = last[static_cast<std::size_t>(m.sender)];
      if (m.n <= before) *in_order = false;
      before = m.n;
      seen->push_back(m.n);
    }
    void on(item i) { seen->push_back(i.n); }
  };
  const auto seen = std::make_shared<ints>();
  const auto in_order = std::make_shared<bool>(true);
  auto to = system.spawn<sink>(newest(16), lent(seen), lent(in_order));
  std::vector<std::thread> threads;
  for (int s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      for (int i = 0; i < each; ++i) {
        send(to, numbered{s, i});
        if (i % 64 == 0) send_urgent(to, item{i});
        if (i % 512 == 0) CHECK(to.mailbox_length() <= 16);
      }
    });
  for (auto& t : threads) t.join();
  to = {};
  REQUIRE(system.await_all(duration::seconds(60)).complete);
  const std::uint64_t sent = senders * (each + (each + 63) / 64);
  CHECK(seen->size() + system.dead_letter_count(errc::overload) == sent);
  CHECK(*in_order);
  CHECK(seen->size() >= 16);
}

TEST_CASE("with drop_oldest, an idle actor handles each message at once, urgent ones too") {
  actor_system system;
  const auto urgently = [](const auto& to, item i) { send_urgent(to, i); };
  CHECK(handles_each_at_once(system, 20'000, urgently));
  const auto by_turns = [](const auto& to, item i) {
    i.n % 2 == 0 ? send(to, i) : send_urgent(to, i);
  };
  CHECK(handles_each_at_once(system, 20'000, by_turns));
}

TEST_CASE("with drop_oldest, no memory is left of messages that were handled") {
  const std::size_t before = base::block_pool::blocks_in_use();
  {
    actor_system system;
    const auto urgently = [](const auto& to, item i) { send_urgent(to, i); };
    const std::size_t idle = base::block_pool::blocks_in_use();
    CHECK(handles_each_at_once(system, 2'000, urgently));
    // what the runner has not retired yet, and the actor itself
    CHECK(base::block_pool::blocks_in_use() < idle + 100);
  }
  CHECK(base::block_pool::blocks_in_use() == before);
}

TEST_CASE("with drop_oldest, a dropped message says that there was too much mail") {
  fixture f(1);
  send(f.to, ask{true});
  f.kit.run();
  f.flood(0, 2);
  REQUIRE(f.kit.dead_letters().size() == 1);
  CHECK(f.kit.dead_letters()[0].reason == errc::overload);
  f.answer();
  f.kit.run();
  CHECK(*f.seen == ints{-1, 1});
}

TEST_CASE(
    "with drop_oldest, what was skipped comes before a later response, also if a signal comes "
    "between") {
  test_system kit{11};
  const auto other = kit.spawn<holding_actor>();
  const auto dead = dead_actor(kit);
  const auto seen = std::make_shared<ints>();
  const auto to =
      kit.spawn(newest(8), lent([seen, other, dead](dynamic_actor& self) -> behavior {
                  self.set_unmatched(unmatched::skip);
                  const auto note = [seen](int n) { seen->push_back(n); };
                  return {[&self, note, other](let_go) { self.request(other, work{}).then(note); },
                          [&self, seen, dead](next_behavior) {
                            self.become({[seen](item i) { seen->push_back(i.n); }});
                            self.monitor(dead, [](const down&) {});
                          }};
                }));
  send(to, let_go{});
  kit.run();
  send(to, item{0});
  send(to, item{1});
  kit.run();
  send(to, next_behavior{});
  send(other, let_go{});
  kit.expect<let_go>().to(other);
  send(to, item{2});
  kit.run();
  CHECK(*seen == ints{0, 1, -1, 2});
}

TEST_CASE(
    "with drop_oldest, a skipped urgent message is tried again, and what is sent then comes behind "
    "it") {
  test_system kit{11};
  const auto dead = dead_actor(kit);
  const auto seen = std::make_shared<ints>();
  const auto to = kit.spawn(newest(8), lent([seen, dead](dynamic_actor& self) -> behavior {
                              self.set_unmatched(unmatched::skip);
                              return {[&self, seen, dead](next_behavior) {
                                self.become({[seen](item i) { seen->push_back(i.n); }});
                                self.monitor(dead, [](const down&) {});
                                send(self.self(), item{9});
                              }};
                            }));
  send_urgent(to, item{0});
  kit.run();
  send(to, next_behavior{});
  kit.run();
  CHECK(*seen == ints{0, 9});
}

TEST_CASE("with drop_oldest, an answer that waits for another one has no bound") {
  test_system kit{11};
  const auto first = kit.spawn<holding_actor>();
  const auto second = kit.spawn<holding_actor>();
  const auto third = kit.spawn<holding_actor>();
  const auto seen = std::make_shared<ints>();
  auto to = kit.spawn(
      newest(1), lent([=](dynamic_actor& self) -> behavior {
        return {[=, &self](next_behavior) {
                  // its answer comes before anybody waits for it, and then waits for the second
                  auto asked = self.request(first, work{});
                  const auto early = std::make_shared<decltype(asked)>(std::move(asked));
                  self.request(second, work{}).await([=](int n) { seen->push_back(n - 2); });
                  self.request(third, work{}).await([=](int n) {
                    seen->push_back(n - 3);
                    std::move(*early).then([=](int m) { seen->push_back(m - 1); });
                  });
                },
                [=](item i) { seen->push_back(i.n); }};
      }));
  send(to, next_behavior{});
  kit.run();
  for (const auto& who : {third, first}) {
    send(who, let_go{});
    kit.expect<let_go>().to(who);
  }
  kit.run();
  for (int n = 0; n < 3; ++n) send(to, item{n});
  kit.run();
  CHECK(*seen == ints{-4});
  send(second, let_go{});
  kit.run();
  CHECK(*seen == ints{-4, -3, -2, 2});
}

TEST_CASE("with drop_oldest, an urgent message lets no later one pass a response") {
  fixture f(10);
  send(f.to, ask{false});
  f.kit.run();
  f.flood(0, 2);
  f.answer();
  send_urgent(f.to, item{9});
  f.flood(2, 4);
  f.kit.run();
  CHECK(*f.seen == ints{9, 0, 1, -1, 2, 3});
}

TEST_CASE("with drop_oldest, a response that comes with a signal is handled") {
  struct watching : actor<protocol<void(work)>> {
    ref<asker::protocol_type> who;
    explicit watching(ref<asker::protocol_type> w) : who(std::move(w)) {}
    void on(work) {
      monitor(who, [](const down&) {});
    }
  };
  fixture f(4);
  const auto watcher = f.kit.spawn<watching>(f.to);
  send(f.to, ask{false});
  f.kit.run();
  f.answer();
  send(watcher, work{});
  f.kit.expect<work>().to(watcher);
  f.kit.run();
  CHECK(*f.seen == ints{-1});
}

TEST_CASE("with drop_oldest, what was skipped is a dead letter at the end, and no block is left") {
  const std::size_t before = base::block_pool::blocks_in_use(64);
  {
    test_system kit{11};
    const auto to = kit.spawn(newest(4), [](dynamic_actor& self) -> behavior {
      self.set_unmatched(unmatched::skip);
      return {[](work) {}};
    });
    for (int i = 0; i < 5; ++i) {
      send(to, work{});
      kit.run();
    }
    for (int i = 0; i < 2; ++i) {
      send(to, item{i});
      kit.run();
    }
    send(to, work{});
    kit.kill(to);
    kit.run();
    CHECK(kit.dead_letters().size() == 3);
  }
  CHECK(base::block_pool::blocks_in_use(64) == before);
}

TEST_CASE("with drop_oldest, what a restart drops leaves the bound as it was") {
  test_system kit{3};
  const auto seen = std::make_shared<ints>();
  const auto lives = std::make_shared<int>(0);
  const auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all, .keep_mail = false});
  const auto start = [seen, lives](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    if (++*lives == 1) return {[](fail) { throw 1; }};
    return {[seen](item i) { seen->push_back(i.n); }};
  };
  const auto to = supervise(top, child_options{.spawn = newest(3)}, lent(start));
  for (int i = 0; i < 2; ++i) {
    send(to, item{i});
    kit.run();
  }
  send(to, fail{});
  kit.run();
  REQUIRE(*lives == 2);
  for (int i = 10; i < 13; ++i) send(to, item{i});
  kit.run();
  CHECK(*seen == ints{10, 11, 12});
}

TEST_CASE("with drop_oldest, what is sent about mail that a restart drops is not dropped with it") {
  struct complaining : base::probe {
    ref<protocol<void(item), void(fail), int(work)>> to;
    int complaints = 0;
    void on_dead_letter(std::uint64_t, std::uint64_t, const base::message_type*,
                        const error& why) noexcept override {
      if (why == errc::not_handled && ++complaints < 1'000) send(to, item{complaints});
    }
  };
  struct failing : actor<protocol<void(item), void(fail), int(work)>> {
    void on(item) { ++handled; }
    void on(fail) { throw 1; }
    int on(work) { return handled; }
    int handled = 0;
  };
  complaining probe;
  test_system kit(testkit::settings{.probe = &probe});
  const auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all, .keep_mail = false});
  probe.to = supervise<failing>(top, child_options{.spawn = newest(8)});
  kit.run();
  send(probe.to, fail{});
  for (int i = 0; i < 4; ++i) send(probe.to, item{-i});
  kit.run();
  CHECK(probe.complaints == 4);
  CHECK(kit.request(probe.to, work{}).get().value() == 4);
  probe.to = {};
}

}  // namespace newest_mail_test
