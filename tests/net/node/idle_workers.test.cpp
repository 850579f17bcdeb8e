// Workers that have nothing to do wait for the network themselves: they come back for any other
// work, and no message has to wait while they are away.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/leader_seat.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/system/system_core.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>

#include <support/quiet.hpp>

namespace idle_workers_test {

using namespace garrick;

struct number {
  std::uint64_t value = 0;
};
using adder_type = protocol<std::uint64_t(number)>;
class adder : public actor<adder_type> {
 public:
  std::uint64_t on(const number& n) { return n.value + 1; }
};

/// Its handler waits until that of `releaser` was called.
class waiter : public actor<adder_type> {
 public:
  waiter(std::binary_semaphore& begun, std::binary_semaphore& go) : begun_(begun), go_(go) {}
  std::uint64_t on(const number& n) {
    begun_.release();
    go_.acquire();
    return n.value + 2;
  }

 private:
  std::binary_semaphore& begun_;
  std::binary_semaphore& go_;
};

class releaser : public actor<adder_type> {
 public:
  explicit releaser(std::binary_semaphore& go) : go_(go) {}
  std::uint64_t on(const number& n) {
    go_.release();
    return n.value + 3;
  }

 private:
  std::binary_semaphore& go_;
};

settings with_workers(std::uint32_t n) {
  settings s = tests::quiet();
  s.scheduler.workers = n;
  return s;
}

/// Returns how often a worker of this system has waited for the network and then left to run an
/// actor.
std::uint32_t stays(actor_system& s) { return s.core().workers_pool().seat()->stays(); }

struct two_nodes {
  actor_system left;
  actor_system right{with_workers(1)};
  net::node a{left};
  net::node b{right};
  std::string at;

  explicit two_nodes(std::uint32_t workers = 2) : left(with_workers(workers)) {
    at = a.listen("tcp://127.0.0.1:0").value().to_string();
  }
  template <class A, class... Args>
  ref<adder_type> far(const std::string& name, Args&&... args) {
    const ref<adder_type> here = left.spawn<A>(std::forward<Args>(args)...);
    REQUIRE(a.publish(name, here).has_value());
    return b.remote<adder_type>(at, name).value();
  }
  std::uint64_t ask(const ref<adder_type>& whom, std::uint64_t n) {
    return right.request(whom, number{n}).get().value();
  }
};

TEST_CASE("idle workers: they wait for the network, and run the actors that it wakes") {
  two_nodes both;
  const auto adds = both.far<adder>("adder");
  // On a busy machine the workers are slow, and the I/O thread reads in their place for a time.
  for (std::uint64_t i = 0; stays(both.left) < 10; ++i) REQUIRE(both.ask(adds, i) == i + 1);
}

TEST_CASE("idle workers: while one is in a long handler, the next message is read and handled") {
  two_nodes both;
  const auto adds = both.far<adder>("adder");
  std::binary_semaphore begun{0};
  std::binary_semaphore go{0};
  const auto waits = both.far<waiter>("waiter", lent(begun), lent(go));
  const auto releases = both.far<releaser>("releaser", lent(go));
  for (std::uint64_t i = 0; i != 20; ++i) {
    for (std::uint64_t n = 0; n != 20; ++n) REQUIRE(both.ask(adds, n) == n + 1);
    auto first = both.right.request(waits, number{i});
    begun.acquire();
    // One worker stays in its handler until the other one has read this message.
    CHECK(both.ask(releases, i) == i + 3);
    CHECK(std::move(first).get().value() == i + 2);
  }
}

TEST_CASE("idle workers: the only one comes back from there for messages that are sent here") {
  two_nodes both(1);
  const auto adds = both.far<adder>("adder");
  const auto here = both.left.spawn<adder>();
  for (std::uint64_t i = 0; i != 2000; ++i) {
    if (i % 4 == 0) REQUIRE(both.ask(adds, i) == i + 1);
    REQUIRE(both.left.request(here, number{i}).get().value() == i + 1);
  }
}

TEST_CASE("idle workers: of two nodes in a system one is served by its own thread") {
  two_nodes both;
  net::node third(both.left);
  const std::string at = third.listen("tcp://127.0.0.1:0").value().to_string();
  REQUIRE(third.publish("second", both.left.spawn<adder>()).has_value());
  const auto adds = both.far<adder>("adder");
  const auto second = both.b.remote<adder_type>(at, "second").value();
  for (std::uint64_t i = 0; i != 500; ++i) {
    REQUIRE(both.ask(adds, i) == i + 1);
    REQUIRE(both.ask(second, i) == i + 1);
  }
}

TEST_CASE("idle workers: a node that takes another one's place gets its seat, too") {
  actor_system left(with_workers(2));
  actor_system right(with_workers(1));
  net::node b(right);
  auto a = std::make_unique<net::node>(left);
  for (int life = 0; life != 3; ++life) {
    const std::string at = a->listen("tcp://127.0.0.1:0").value().to_string();
    REQUIRE(a->publish("adder", left.spawn<adder>()).has_value());
    const auto adds = b.remote<adder_type>(at, "adder").value();
    const std::uint32_t before = stays(left);
    for (std::uint64_t i = 0; stays(left) - before < 10; ++i)
      REQUIRE(right.request(adds, number{i}).get().value() == i + 1);
    a = std::make_unique<net::node>(left);  // while the earlier node is still there
  }
}

TEST_CASE("idle workers: nodes and systems end while they wait for the network") {
  for (std::uint32_t round = 0; round != 30; ++round) {
    actor_system left(with_workers(1 + round % 3));
    actor_system right(with_workers(2));
    auto a = std::make_unique<net::node>(left);
    auto b = std::make_unique<net::node>(right);
    const std::string at = a->listen("tcp://127.0.0.1:0").value().to_string();
    REQUIRE(a->publish("adder", left.spawn<adder>()).has_value());
    const auto adds = b->remote<adder_type>(at, "adder").value();
    for (std::uint64_t i = 0; i != round; ++i)
      REQUIRE(right.request(adds, number{i}).get().value() == i + 1);
    // The next node gets the seat that this one had.
    if (round % 2 == 0) {
      b.reset();
      b = std::make_unique<net::node>(right);
      const auto again = b->remote<adder_type>(at, "adder").value();
      for (std::uint64_t i = 0; i != 10; ++i)
        REQUIRE(right.request(again, number{i}).get().value() == i + 1);
    }
    if (round % 3 == 0) a.reset();
  }
}

}  // namespace idle_workers_test
