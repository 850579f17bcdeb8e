// The order of messages: FIFO per sender, receiver and priority; causal; urgent messages overtake
// normal ones but leave them a share.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ordering_test {

namespace {

using namespace garrick;

struct numbered {
  int sender;
  int n;
};

constexpr int senders = 4;
constexpr int each = 250'000;

TEST_CASE("a million messages of several threads arrive in each thread's order") {
  actor_system system;
  auto wrong = std::make_shared<std::atomic<int>>(0);
  const any_ref a = system.spawn(lent([wrong](dynamic_actor&) -> behavior {
    auto next = std::make_shared<std::vector<int>>(senders, 0);
    auto total = std::make_shared<int>(0);
    return {[next, total, wrong](numbered m) {
              if ((*next)[static_cast<std::size_t>(m.sender)]++ != m.n) ++*wrong;
              ++*total;
            },
            [total](const std::string&) { return *total; }};
  }));
  std::vector<std::thread> threads;
  for (int t = 0; t < senders; ++t)
    threads.emplace_back([&a, t] {
      for (int i = 0; i < each; ++i) send(a, numbered{t, i});
    });
  for (auto& t : threads) t.join();
  CHECK(system.request_as<int>(a, std::string("how many")).get().value() == senders * each);
  CHECK(*wrong == 0);
}

TEST_CASE("actors that send to each other keep their order, and causes come before effects") {
  actor_system system;
  auto wrong = std::make_shared<std::atomic<int>>(0);
  const any_ref sink = system.spawn(lent([wrong](dynamic_actor&) -> behavior {
    auto last = std::make_shared<int>(0);
    return {[last, wrong](int x) {  // x from the source, then -x from the relay, for each x
              if (x > 0)
                *last = x;
              else if (-x > *last)
                ++*wrong;
            },
            [](const std::string&) {}};
  }));
  const any_ref relay = system.spawn(lent([sink](dynamic_actor&) -> behavior {
    return {[sink](int x) { send(sink, -x); }, [](const std::string&) {}};
  }));
  const any_ref source = system.spawn(lent([sink, relay](dynamic_actor&) -> behavior {
    return {[sink, relay](int n) {
      for (int i = 1; i <= n; ++i) {
        send(sink, i);
        send(relay, i);
      }
    }};
  }));
  CHECK(system.request_as<>(source, 50'000).get().has_value());
  CHECK(system.request_as<>(relay, std::string("done")).get().has_value());
  CHECK(system.request_as<>(sink, std::string("done")).get().has_value());
  CHECK(*wrong == 0);
}

/// Fills the mailbox while the actor is kept busy with the first message.
std::vector<int> order_of(actor_system& system, int normal, int urgent) {
  auto log = std::make_shared<std::vector<int>>();
  auto busy = std::make_shared<std::atomic<bool>>(false);
  auto filled = std::make_shared<std::atomic<bool>>(false);
  const any_ref a = system.spawn(lent([log, busy, filled](dynamic_actor&) -> behavior {
    return {[busy, filled](double) {
              busy->store(true);
              while (!filled->load()) std::this_thread::yield();
            },
            [log](int x) { log->push_back(x); }, [log](const std::string&) { return *log; }};
  }));
  send(a, 0.5);
  while (!busy->load()) std::this_thread::yield();
  for (int i = 1; i <= normal; ++i) send(a, i);
  for (int i = 1; i <= urgent; ++i) send_urgent(a, -i);
  filled->store(true);
  while (system.request_as<std::vector<int>>(a, std::string("log")).get().value().size() !=
         static_cast<std::size_t>(normal + urgent)) {}
  return *log;
}

TEST_CASE("urgent messages overtake normal ones and keep their own order") {
  actor_system system;
  CHECK(order_of(system, 3, 4) == std::vector<int>{-1, -2, -3, -4, 1, 2, 3});
}

TEST_CASE("urgent messages that come together are all handled, one a turn") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testkit::test_system kit(seed);
    const auto handled = std::make_shared<int>(0);
    const auto to = kit.spawn(
        lent([handled](dynamic_actor&) -> behavior { return {[handled](int) { ++*handled; }}; }));
    for (int i = 0; i < 3; ++i) send_urgent(to, i);
    kit.run();
    CHECK(*handled == 3);
  }
}

TEST_CASE("urgent messages cannot starve normal ones: every ninth turn is theirs") {
  actor_system system;
  const std::vector<int> log = order_of(system, 10, 80);
  int last_urgent = 0;
  int last_normal = 0;
  int streak = 0;
  for (const int x : log) {
    if (x < 0) {
      CHECK(x == last_urgent - 1);
      last_urgent = x;
      if (last_normal < 10) CHECK(++streak <= 8);
    } else {
      CHECK(x == last_normal + 1);
      last_normal = x;
      streak = 0;
    }
  }
  CHECK(last_normal == 10);
  CHECK(last_urgent == -80);
}

TEST_CASE("selective receive keeps the order of skipped messages, across several changes") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    auto log = std::make_shared<std::vector<std::string>>();
    // takes one double, then one string, then one int, and so on
    struct turns {
      static void doubles(dynamic_actor& s, std::shared_ptr<std::vector<std::string>> l) {
        s.become([&s, l](double) {
          l->push_back("d");
          strings(s, l);
        });
      }
      static void strings(dynamic_actor& s, std::shared_ptr<std::vector<std::string>> l) {
        s.become([&s, l](const std::string& x) {
          l->push_back(x);
          numbers(s, l);
        });
      }
      static void numbers(dynamic_actor& s, std::shared_ptr<std::vector<std::string>> l) {
        s.become([&s, l](int x) {
          l->push_back(std::to_string(x));
          if (l->size() == 9)
            s.become([l](char) { return *l; });
          else
            doubles(s, l);
        });
      }
    };
    return {[&self, log](char) { turns::doubles(self, log); }};
  });
  for (int i = 1; i <= 3; ++i) send(a, i);
  send(a, std::string("x"));
  send(a, std::string("y"));
  send(a, std::string("z"));
  for (int i = 1; i <= 3; ++i) send(a, 0.5);
  send(a, 'g');
  CHECK(system.request_as<std::vector<std::string>>(a, 'r').get().value() ==
        std::vector<std::string>{"d", "x", "1", "d", "y", "2", "d", "z", "3"});
}

struct ends_itself {
  any_ref watched;
};
/// When the watched actor has ended it tells itself to end, and then to go on with its work.
struct order_taker : actor<protocol<void(ends_itself), void(int)>> {
  actor_system* system;
  std::shared_ptr<std::atomic<int>> worked;
  order_taker(actor_system* s, std::shared_ptr<std::atomic<int>> w)
      : system(s), worked(std::move(w)) {}
  void on(const ends_itself& e) { monitor(e.watched); }
  void on(const down&) {
    system->exit(self());
    send(self(), 1);
  }
  void on(int) { ++*worked; }
};

TEST_CASE(
    "a signal is not overtaken by later messages of its sender, even while other signals are "
    "handled") {
  auto worked = std::make_shared<std::atomic<int>>(0);
  actor_system system;
  const auto gone =
      system.spawn([](dynamic_actor& self) -> behavior { return {[&self](int) { self.quit(); }}; });
  send(gone, 1);
  const auto a = system.spawn<order_taker>(lent(&system), lent(worked));
  send(a, ends_itself{gone});
  CHECK(system.await_all());
  CHECK(*worked == 0);
}

TEST_CASE("a blocking actor hears of a signal before later messages of its sender") {
  auto worked = std::make_shared<std::atomic<int>>(0);
  actor_system system;
  system.spawn(lent([worked, &system](blocking_actor& self) {
    self.monitor(address(), [&](const down&) {  // at once
      system.exit(self.self());
      self.send(self.self(), 1);
    });
    for (;;) self.receive([&](int) { ++*worked; });
  }));
  CHECK(system.await_all());
  CHECK(*worked == 0);
}

}  // namespace

}  // namespace ordering_test
