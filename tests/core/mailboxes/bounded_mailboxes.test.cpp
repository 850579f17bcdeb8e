// Mailboxes with a bound: refused and dropped messages, waiting senders; and the system lane
// without a bound.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace bounded_mailboxes_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct item {
  int n;
};
struct sum {};
using box = protocol<void(item), int(sum)>;

class keeper : public actor<box> {
  std::shared_ptr<std::vector<int>> seen_;

 public:
  explicit keeper(std::shared_ptr<std::vector<int>> s) : seen_(std::move(s)) {}
  void on(item i) { seen_->push_back(i.n); }
  int on(sum) const { return static_cast<int>(seen_->size()); }
};

struct fixture {
  test_system kit{5};
  std::shared_ptr<std::vector<int>> seen = std::make_shared<std::vector<int>>();
  ref<box> to;
  explicit fixture(mailbox_policy p, std::uint32_t bound = 3) {
    to = kit.spawn<keeper>(
        spawn_options{.policy = p, .bound = p != mailbox_policy::unbounded ? bound : 0},
        lent(seen));
  }
  void flood(int n) {
    for (int i = 0; i < n; ++i) send(to, item{i});
  }
  std::size_t letters() {
    std::size_t n = 0;
    for (const auto& l : kit.dead_letters())
      if (l.reason == errc::overload) ++n;
    return n;
  }
};

using ints = std::vector<int>;

}  // namespace

TEST_CASE("reject and drop_newest keep the first messages; the others are dead letters") {
  for (const mailbox_policy p :
       {mailbox_policy::reject, mailbox_policy::drop_newest, mailbox_policy::wait}) {
    fixture f(p);
    f.flood(5);
    CHECK(f.letters() == 2);
    f.kit.run();
    CHECK(*f.seen == ints{0, 1, 2});
    f.flood(1);
    f.kit.run();
    CHECK(f.seen->size() == 4);
  }
}

TEST_CASE("with the policy wait a send waits until there is room, in an actor and outside") {
  struct slow : actor<box> {
    std::shared_ptr<std::vector<int>> seen;
    std::uint32_t* most;
    slow(std::shared_ptr<std::vector<int>> s, std::uint32_t* m) : seen(std::move(s)), most(m) {}
    void on(item i) {
      const auto begin = std::chrono::steady_clock::now();
      while (i.n % 100 == 0 &&
             std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(3)) {}
      *most = std::max(*most, mailbox_length());
      seen->push_back(i.n);
    }
    int on(sum) const { return static_cast<int>(seen->size()); }
  };
  struct eager : actor<protocol<void(sum)>> {
    ref<box> to;
    explicit eager(ref<box> t) : to(std::move(t)) {}
    void on(sum) {
      for (int i = 0; i < 500; ++i) send(to, item{i});
    }
  };
  for (const bool inside : {false, true})
    for (const std::uint32_t workers : {1U, 2U}) {
      auto seen = std::make_shared<std::vector<int>>();
      std::uint32_t most = 0;
      settings o;
      o.scheduler.workers = workers;
      o.log.level = system::log_level::off;
      o.mailbox.full_wait = core::longest_full_wait;  // patience for a busy machine
      actor_system system(o);
      const auto to = system.spawn<slow>(spawn_options{.policy = mailbox_policy::wait, .bound = 3},
                                         lent(seen), lent(&most));
      if (inside)
        send(system.spawn<eager>(to), sum{});
      else
        for (int i = 0; i < 500; ++i) send(to, item{i});
      static_cast<void>(system.shutdown(duration::seconds(60)));
      CHECK(system.dead_letter_count(errc::overload) == 0);
      CHECK(seen->size() == 500);
      CHECK(std::is_sorted(seen->begin(), seen->end()));
      CHECK(most <= 4);  // the bound and the message being handled
    }
}

TEST_CASE("with the policy wait a send gives up where waiting cannot help") {
  // The receiver sends to itself: no other thread could make room.
  struct selfish : actor<protocol<void(sum), void(item)>> {
    int* seen;
    explicit selfish(int* s) : seen(s) {}
    void on(sum) {
      for (int i = 0; i < 5; ++i) send(self(), item{i});
    }
    void on(item) { ++*seen; }
  };
  int seen = 0;
  {
    settings o;
    o.scheduler.workers = 1;
    o.log.level = system::log_level::off;
    o.mailbox.full_wait = duration::seconds(60);
    actor_system system(o);
    send(system.spawn<selfish>(spawn_options{.policy = mailbox_policy::wait, .bound = 3},
                               lent(&seen)),
         sum{});
    static_cast<void>(system.await_all());
    CHECK(system.dead_letter_count(errc::overload) == 5 - seen);
  }
  CHECK(seen >= 2);
  CHECK(seen <= 3);
}

TEST_CASE("the highest bound of a mailbox is exact under every policy") {
  constexpr std::uint32_t bound = 32'768;
  constexpr int sent = 100'000;
  for (const mailbox_policy p :
       {mailbox_policy::reject, mailbox_policy::drop_newest, mailbox_policy::wait}) {
    settings o;
    o.scheduler.workers = 1;
    o.log.level = system::log_level::off;
    o.mailbox.full_wait = {};
    auto seen = std::make_shared<std::vector<int>>();
    std::atomic<bool> held{false}, release{false};
    {
      actor_system system(o);
      const auto holder = system.spawn(lent([&](dynamic_actor&) -> behavior {
        return {[&](sum) {
          held = true;
          held.notify_all();
          release.wait(false);
        }};
      }));
      send(holder, sum{});
      held.wait(false);  // the only worker
      const auto to = system.spawn<keeper>(spawn_options{.lazy = true, .policy = p, .bound = bound},
                                           lent(seen));
      std::uint32_t most = 0;
      for (int i = 0; i < sent; ++i) {
        send(to, item{i});
        most = std::max(most, to.mailbox_length());
      }
      CHECK(most == bound);
      CHECK(system.dead_letter_count(errc::overload) == std::uint64_t{sent} - bound);
      release = true;
      release.notify_all();
    }
    CHECK(seen->size() == bound);
    CHECK(seen->front() == 0);
  }
}

TEST_CASE("a request to a full mailbox gets overload") {
  fixture f(mailbox_policy::reject);
  f.flood(3);
  auto asked = f.kit.request(f.to, sum{});
  CHECK(asked.get().error() == errc::overload);
}

TEST_CASE(
    "try_send says overload for reject and nothing for drop_newest, and never makes a sender "
    "wait") {
  fixture f(mailbox_policy::reject);
  f.flood(2);
  CHECK(!try_send(f.to, item{2}));
  CHECK(try_send(f.to, item{3}) == errc::overload);
  CHECK(f.letters() == 0);
  fixture g(mailbox_policy::drop_newest);
  g.flood(3);
  CHECK(!try_send(g.to, item{3}));
  CHECK(g.letters() == 1);
  f.kit.exit(f.to);
  f.kit.run();
  CHECK(try_send(f.to, item{4}) == errc::not_handled);
}

TEST_CASE("the system lane has no bound") {
  fixture f(mailbox_policy::reject);
  f.flood(3);
  f.kit.exit(f.to);
  f.kit.run();
  f.kit.expect_down(f.to, exit_code::user_shutdown);
}

TEST_CASE("responses pass a full mailbox") {
  struct go {};
  struct asker : actor<protocol<void(go), void(item), int(sum)>> {
    ref<box> other;
    int answer = -1;
    explicit asker(ref<box> o) : other(std::move(o)) {}
    void on(go) {
      request(other, sum{}).then([this](int n) { answer = n; });
    }
    void on(item) {}
    int on(sum) const { return answer; }
  };
  fixture f(mailbox_policy::reject, 100);
  auto a = f.kit.spawn<asker>(spawn_options{.policy = mailbox_policy::reject, .bound = 1}, f.to);
  send(a, go{});
  f.kit.expect<go>().to(a);
  send(a, item{1});
  f.kit.run();
  CHECK(f.kit.request(a, sum{}).get().value() == 0);
}

TEST_CASE("a bound must be 1 to 32768") {
  test_system kit(1);
  auto seen = std::make_shared<std::vector<int>>();
  for (const std::uint32_t bound : {0u, 32769u}) {
    auto r = kit.spawn<keeper>(spawn_options{.policy = mailbox_policy::reject, .bound = bound},
                               lent(seen));
    kit.run();
    kit.expect_down(r, exit_code::failure);
  }
}

namespace {

struct produce {
  int n;
};
struct producer : actor<protocol<void(produce)>> {
  ref<box> to;
  std::shared_ptr<ints> errors;
  producer(ref<box> t, std::shared_ptr<ints> e) : to(std::move(t)), errors(std::move(e)) {}
  task<void> on(produce p) {
    for (int i = 0; i < p.n; ++i) {
      auto sent = send_when_room(to, item{i});
      result<void> r = co_await std::move(sent);
      if (!r.has_value()) errors->push_back(i);
    }
  }
};

}  // namespace

TEST_CASE("send_when_room suspends a coroutine until there is room, and loses nothing") {
  fixture f(mailbox_policy::wait, 2);
  auto errors = std::make_shared<ints>();
  std::vector<ref<protocol<void(produce)>>> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(f.kit.spawn<producer>(f.to, lent(errors)));
    send(all.back(), produce{40});
  }
  std::uint32_t most = 0;
  while (f.kit.step()) most = std::max(most, f.to.mailbox_length());
  CHECK(f.seen->size() == 200);
  CHECK(errors->empty());
  CHECK(most <= 3);  // the bound and the message being handled
  CHECK(f.letters() == 0);
}

TEST_CASE("send_when_room gets through a mailbox that holds one message") {
  fixture f(mailbox_policy::wait, 1);
  auto errors = std::make_shared<ints>();
  auto p = f.kit.spawn<producer>(f.to, lent(errors));
  send(p, produce{20});
  f.kit.run();
  CHECK(f.seen->size() == 20);
  CHECK(errors->empty());
}

TEST_CASE("send_when_room to an unbounded mailbox waits below the soft limit") {
  fixture f(mailbox_policy::unbounded);
  auto errors = std::make_shared<ints>();
  auto p = f.kit.spawn<producer>(f.to, lent(errors));
  send(p, produce{3000});
  f.kit.run();
  CHECK(f.seen->size() == 3000);
}

TEST_CASE("a sender that waits for room when the receiver ends gets not_handled") {
  fixture f(mailbox_policy::wait, 1);
  auto errors = std::make_shared<ints>();
  auto p = f.kit.spawn<producer>(f.to, lent(errors));
  f.flood(1);
  send(p, produce{1});
  f.kit.expect<produce>().to(p);
  f.kit.exit(f.to);
  f.kit.run();
  CHECK(*errors == ints{0});
  send(p, produce{2});
  f.kit.run();
  CHECK(*errors == ints{0, 0, 1});
}

namespace {

/// Answers at once, however full the asker's mailbox is.
struct quick : actor<protocol<int(int)>> {
  int on(int n) { return n; }
};
struct begin {};

/// Makes many requests in one handler, and sends itself a message after each. The answers come
/// while the handler is still running.
class crowded : public actor<protocol<void(begin), void(item)>> {
 public:
  explicit crowded(ref<protocol<int(int)>> to) : to_(std::move(to)) {}
  void on(begin) {
    for (int i = 0; i != requests; ++i) {
      request(to_, i).then([this](int) { ++answers_; });
      send(self(), item{i});
      most_ = std::max(most_, mailbox_length());
    }
  }
  void on(item) { ++items_; }
  [[nodiscard]] int items() const noexcept { return items_; }
  [[nodiscard]] int answers() const noexcept { return answers_; }
  [[nodiscard]] std::uint32_t most() const noexcept { return most_; }

  static constexpr int requests = 70'000;

 private:
  ref<protocol<int(int)>> to_;
  int items_ = 0;
  int answers_ = 0;
  std::uint32_t most_ = 0;
};

}  // namespace

TEST_CASE("a bound holds however many answers wait beside the messages") {
  for (const mailbox_policy p :
       {mailbox_policy::reject, mailbox_policy::drop_newest, mailbox_policy::wait}) {
    CAPTURE(static_cast<int>(p));
    constexpr std::uint32_t bound = 1000;
    testkit::settings o;
    o.mailbox.in_place = true;  // so that the answers come while the asker goes on
    test_system kit(o);
    const auto to = kit.spawn<quick>();
    const auto who = kit.spawn<crowded>(spawn_options{.policy = p, .bound = bound}, to);
    send(who, begin{});
    kit.run();
    const crowded& c = kit.inspect<crowded>(who);
    CHECK(c.answers() == crowded::requests);
    CHECK(c.items() <= static_cast<int>(bound));
    CHECK(c.most() > 65'536);  // the word has wrapped
    CHECK(static_cast<int>(kit.dead_letters().size()) == crowded::requests - c.items());
  }
}

}  // namespace bounded_mailboxes_test
