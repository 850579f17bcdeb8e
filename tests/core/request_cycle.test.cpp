// A awaits B awaits A: found, reported, answered; and similar waits that are not a cycle are left
// alone.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/life/wait_graph.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace request_cycle_test {

using namespace garrick;
using testkit::test_system;

namespace {

struct ask {
  int depth;
};
struct meet {
  any_ref other;
};
using asked = protocol<int(ask), void(meet)>;

class counting_probe final : public base::probe {
 public:
  void on_request_cycle(std::uint64_t) noexcept override { ++cycles; }
  int cycles = 0;
};

testkit::settings with_probe(base::probe& p, std::uint64_t seed = 1) {
  testkit::settings o;
  o.probe = &p;
  o.seed = seed;
  return o;
}

/// Answers depth 0 by itself; for more it awaits the other.
class awaiting_actor : public actor<asked> {
 public:
  void on(const meet& m) { other_ = m.other; }
  result<int> on(const ask& a) {
    if (a.depth == 0) return 1;
    auto p = std::make_shared<response_promise<int>>(make_promise<int>());
    request_as<int>(other_, ask{a.depth - 1})
        .await([p](int v) { p->deliver(v + 1); },
               [this, p](const error& e) {
                 seen = e;
                 p->fail(e);
               });
    return result<int>(response_promise<int>{});
  }
  error seen;

 private:
  any_ref other_;
};

}  // namespace

TEST_CASE("a request cycle is reported, and the await that closes it gets request_cycle") {
  testkit::explore(100, [](test_system&) {});
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    counting_probe probe;
    test_system kit(with_probe(probe, seed));
    const auto a = kit.spawn<awaiting_actor>();
    const auto b = kit.spawn<awaiting_actor>();
    send(a, meet{any_ref(b)});
    send(b, meet{any_ref(a)});
    kit.run();
    CHECK(kit.request(a, ask{2}).get().error() == errc::request_cycle);
    CHECK(probe.cycles == 1);
    CHECK(kit.inspect<awaiting_actor>(b).seen == errc::request_cycle);
    send(a, meet{});
    send(b, meet{});
    kit.run();
  }
}

TEST_CASE("an actor that awaits itself is a request cycle") {
  counting_probe probe;
  test_system kit(with_probe(probe));
  const auto a = kit.spawn<awaiting_actor>();
  send(a, meet{any_ref(a)});
  kit.run();
  CHECK(kit.request(a, ask{1}).get().error() == errc::request_cycle);
  CHECK(probe.cycles == 1);
  send(a, meet{});
}

TEST_CASE("a chain of awaits that ends is no cycle") {
  counting_probe probe;
  test_system kit(with_probe(probe));
  const auto a = kit.spawn<awaiting_actor>();
  const auto b = kit.spawn<awaiting_actor>();
  const auto c = kit.spawn<awaiting_actor>();
  send(a, meet{any_ref(b)});
  send(b, meet{any_ref(c)});
  kit.run();
  CHECK(kit.request(a, ask{2}).get().value() == 3);
  CHECK(kit.request(a, ask{1}).get().value() == 2);
  CHECK(probe.cycles == 0);
}

TEST_CASE("asking back after the answer was sent is no cycle, in any order") {
  struct hello {};
  struct question {};
  class server : public actor<protocol<int(hello), void(meet)>> {
   public:
    void on(const meet& m) { client_ = m.other; }
    result<int> on(const hello&) {
      auto p = make_promise<int>();
      p.deliver(1);
      // the answer may still lie in the client's mailbox
      request_as<int>(client_, question{}).await([this](int v) { got = v; });
      return result<int>(response_promise<int>{});
    }
    int got = 0;

   private:
    any_ref client_;
  };
  class client : public actor<protocol<void(meet), int(question)>> {
   public:
    void on(const meet& m) {
      request_as<int>(m.other, hello{}).await([this](int v) { got = v; });
    }
    int on(const question&) const { return 5; }
    int got = 0;
  };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    counting_probe probe;
    test_system kit(with_probe(probe, seed));
    const auto s = kit.spawn<server>();
    const auto c = kit.spawn<client>();
    send(s, meet{any_ref(c)});
    kit.run();
    send(c, meet{any_ref(s)});
    kit.run();
    CHECK(probe.cycles == 0);
    CHECK(kit.inspect<client>(c).got == 1);
    CHECK(kit.inspect<server>(s).got == 5);
    send(s, meet{});
    kit.run();
  }
}

TEST_CASE("then closes no cycle: the actor goes on meanwhile") {
  struct ping {};
  class friendly : public actor<protocol<int(ping), void(meet)>> {
   public:
    int on(const ping&) const { return 1; }
    void on(const meet& m) {
      request_as<int>(m.other, ping{}).then([this](int v) { got += v; });
    }
    int got = 0;
  };
  counting_probe probe;
  test_system kit(with_probe(probe));
  const auto a = kit.spawn<friendly>();
  const auto b = kit.spawn<friendly>();
  send(a, meet{any_ref(b)});
  send(b, meet{any_ref(a)});
  kit.run();
  CHECK(kit.inspect<friendly>(a).got + kit.inspect<friendly>(b).got == 2);
  CHECK(probe.cycles == 0);
}

TEST_CASE("a request cycle is found on real threads, too") {
  counting_probe probe;
  settings o;
  o.probe = &probe;
  o.scheduler.workers = 2;
  o.requests.detect_cycles = true;
  actor_system system(o);
  const auto a = system.spawn<awaiting_actor>();
  const auto b = system.spawn<awaiting_actor>();
  send(a, meet{any_ref(b)});
  send(b, meet{any_ref(a)});
  CHECK(system.request(b, ask{0}).get().value() == 1);
  CHECK(system.request(a, ask{0}).get().value() == 1);
  CHECK(system.request(a, ask{2}).get().error() == errc::request_cycle);
  CHECK(probe.cycles == 1);
  send(a, meet{});
  send(b, meet{});
}

TEST_CASE("blocking actors that wait for each other are a request cycle") {
  counting_probe probe;
  test_system kit(with_probe(probe));
  error seen;
  const auto a = kit.spawn<awaiting_actor>();
  const auto b = kit.spawn(lent([&seen, a](blocking_actor& self) {
    self.receive([&](ask) -> int {
      const auto r = self.get(self.request_as<int>(any_ref(a), ask{0}));
      if (r.has_value()) return *r;
      seen = r.error();
      return -1;
    });
  }));
  send(a, meet{any_ref(b)});
  kit.run();
  CHECK(kit.request(a, ask{1}).get().value() == 0);
  CHECK(seen == errc::request_cycle);
  CHECK(probe.cycles == 1);
}

TEST_CASE("the graph forgets requests that were answered, withdrawn or handed over") {
  core::wait_graph g;
  g.asked(1, 10, 2);
  CHECK_FALSE(g.awaits(1, 10));
  g.asked(2, 20, 3);
  CHECK_FALSE(g.awaits(2, 20));
  g.asked(3, 30, 1);
  CHECK(g.awaits(3, 30));
  CHECK(g.list(2).size() == 2);
  REQUIRE(g.list(10).size() == 3);
  for (const core::wait_graph::edge& e : g.list(10)) {
    CHECK(e.id == e.requester * 10);
    CHECK(e.receiver == e.requester % 3 + 1);
    CHECK(e.awaited == (e.requester != 3));  // that one would have closed the circle
  }
  g.handed_over(1, 10, 4);
  CHECK_FALSE(g.awaits(3, 30));
  g.answered(3, 30);
  g.answered(3, 30);
  g.answered(1, 10);
  g.answered(2, 20);
  CHECK(g.edges() == 0);
  CHECK_FALSE(g.awaits(9, 90));
}

TEST_CASE("looking for circles costs a constant time a request, however many are out") {
  core::wait_graph graph;
  constexpr std::uint64_t requests = 200'000;
  const std::uint64_t begin = base::platform::thread_cpu_ns();
  for (std::uint64_t id = 1; id <= requests; ++id) graph.asked(1, id, 2 + id);
  CHECK(graph.edges() == requests);
  for (std::uint64_t id = 1; id <= requests; id += 100) {
    CHECK_FALSE(graph.awaits(1, id));
    graph.handed_over(1, id, 2);
  }
  graph.asked(2, 1, 1);
  CHECK(graph.awaits(2, 1));
  for (std::uint64_t id = requests; id != 0; id -= 2) graph.answered(1, id);
  for (std::uint64_t id = 1; id < requests; id += 2) graph.answered(1, id);
  CHECK(graph.edges() == 1);
  CHECK_FALSE(graph.awaits(2, 1));  // no actor awaits it any more
  // A search among all that are out would take minutes of a processor's time.
  CHECK(base::platform::thread_cpu_ns() - begin < 10'000'000'000);
}

}  // namespace request_cycle_test
