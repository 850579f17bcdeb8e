// The guards of work stealing against starvation that no other test covers alone, without threads:
// the calls for open work (W1), the ticker's alarm (K1, K5) and the relief of a stalled worker
// (W4).
#include <garrick/sched/internal/test_unthreaded.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace starvation_guards_test {

using namespace garrick;
using namespace garrick::sched;
using sched::test::item;
using sched::test::no_time;
using sched::test::scripted_parker;

namespace {

struct scripted_traits : real_traits {
  using clock = no_time;
  using parker = scripted_parker;
};

using worker = stealing_worker<scripted_traits>;

/// Workers with rounds of one message. Each of them looks about when a round begins.
struct workers {
  explicit workers(std::uint32_t count)
      : policy(policy_options{
            .workers = count, .quantum = 4, .idle_spin_ns = 0, .look_interval = 1}) {}
  ~workers() {
    while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
  }
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  work_stealing<scripted_traits> policy;
  std::array<item, 16> items;
  std::size_t used = 0;

  item& next() { return items.at(used++); }
  worker& at(std::uint32_t index) { return policy.worker(index); }
  [[nodiscard]] std::uint64_t wakes() const { return policy.statistics().wakes; }
  [[nodiscard]] bool ticker_is_armed() const {
    return policy.describe().find("ticker armed") != std::string::npos;
  }

  /// Puts open work into the deque of `to` and calls no worker.
  item& push(worker& to) {
    item& one = next();
    REQUIRE(one.offer());
    to.deque.push(&one);
    return one;
  }
  void push_into_inbox(worker& to) {
    item& one = next();
    REQUIRE(one.offer());
    to.inbox.push(one);
  }
  void put_into_slot(worker& of) { REQUIRE(of.front.slot.put(next()) == nullptr); }

  /// Begins a round of `self`, which has work.
  void begin_round(worker& self) {
    self.round.use(1);
    base::runnable* const r = policy.dequeue(self);
    REQUIRE(r != nullptr);
    static_cast<void>(r->take());
  }
  /// Lets the first worker begin a round, with work of its own, and look about.
  void look() {
    push(at(0));
    begin_round(at(0));
  }

  /// Runs the script while this worker sleeps, and stops the pool.
  void while_asleep(worker& self, const std::function<void()>& script) {
    scripted_parker::script = [&] {
      script();
      policy.request_stop();
    };
    CHECK(policy.dequeue(self) == nullptr);
  }
};

bool has_nothing(const worker& w) {
  return !w.has_open_work() && w.front.slot.look().item == nullptr;
}

}  // namespace

TEST_CASE("starvation guards: a runnable that is displaced from the slot is announced") {
  workers w(2);
  w.while_asleep(w.at(1), [&] {
    w.policy.internal_enqueue(w.at(0), w.next());
    CHECK(w.wakes() == 0);
    w.policy.internal_enqueue(w.at(0), w.next());
    CHECK(w.wakes() == 1);
  });
}

TEST_CASE("starvation guards: an exposed runnable is announced") {
  workers w(2);
  w.while_asleep(w.at(1), [&] {
    w.policy.internal_enqueue(w.at(0), w.next());
    CHECK(w.wakes() == 0);
    w.policy.expose(w.at(0));
    CHECK(w.wakes() == 1);
  });
}

TEST_CASE("starvation guards: a worker that fills its slot while another sleeps arms the ticker") {
  workers w(2);
  w.while_asleep(w.at(1), [&] {
    CHECK_FALSE(w.ticker_is_armed());
    w.policy.internal_enqueue(w.at(0), w.next());
    CHECK(w.ticker_is_armed());
  });
}

TEST_CASE("starvation guards: a worker that falls asleep beside a filled slot arms the ticker") {
  workers w(2);
  w.policy.internal_enqueue(w.at(0), w.next());
  CHECK_FALSE(w.ticker_is_armed());
  w.while_asleep(w.at(1), [&] { CHECK(w.ticker_is_armed()); });
}

TEST_CASE(
    "starvation guards: a worker that falls asleep beside open work arms the ticker although "
    "another one was woken for it") {
  workers w(3);
  w.while_asleep(w.at(1), [&] {
    w.policy.external_enqueue(w.at(1), w.next());  // worker 1 is woken, but does not run yet
    REQUIRE(w.wakes() == 1);
    CHECK_FALSE(w.ticker_is_armed());
    w.while_asleep(w.at(2), [&] { CHECK(w.ticker_is_armed()); });
  });
}

TEST_CASE("starvation guards: a worker that begins rounds keeps its work") {
  workers w(2);
  for (int i = 0; i < 3; ++i) w.push(w.at(1));
  w.look();
  w.begin_round(w.at(1));
  w.look();
  CHECK(w.at(1).deque.size() == 2);
  w.look();  // no round since
  CHECK(w.at(1).deque.size() < 2);
}

TEST_CASE("starvation guards: a worker that runs dry keeps the work that it gets then") {
  workers w(2);
  item& arrival = w.next();
  w.look();
  scripted_parker::script = [&] { w.policy.external_enqueue(w.at(1), arrival); };
  REQUIRE(w.policy.dequeue(w.at(1)) == &arrival);
  REQUIRE(arrival.take());
  w.push_into_inbox(w.at(1));
  w.look();
  CHECK_FALSE(w.at(1).inbox.looks_empty());
  w.look();
  CHECK(w.at(1).inbox.looks_empty());
}

TEST_CASE("starvation guards: the slot of a worker that stands still keeps an item that is new") {
  workers w(2);
  w.put_into_slot(w.at(1));
  w.look();
  REQUIRE(w.at(1).front.slot.take() != nullptr);
  w.put_into_slot(w.at(1));
  w.look();
  CHECK(w.at(1).front.slot.look().item != nullptr);
  w.look();
  CHECK(has_nothing(w.at(1)));
}

TEST_CASE("starvation guards: one look relieves slot and inbox, and the deque of half of it") {
  workers w(2);
  w.put_into_slot(w.at(1));
  for (int i = 0; i < 2; ++i) w.push_into_inbox(w.at(1));
  for (int i = 0; i < 7; ++i) w.push(w.at(1));
  w.look();
  w.look();
  CHECK(w.at(1).front.slot.look().item == nullptr);
  CHECK(w.at(1).inbox.looks_empty());
  CHECK(w.at(1).deque.size() == 3);  // it lost the oldest, and three of the other six
}

TEST_CASE("starvation guards: work of which a worker is relieved is announced") {
  for (const bool in_slot : {false, true}) {
    CAPTURE(in_slot);
    workers w(3);
    w.while_asleep(w.at(2), [&] {
      if (in_slot)
        w.put_into_slot(w.at(1));
      else
        w.push(w.at(1));
      w.look();
      CHECK(w.wakes() == 0);
      w.look();
      CHECK(w.wakes() == 1);
    });
  }
}

}  // namespace starvation_guards_test
