// Workers under the model checker, one of which waits for a loop's events instead of sleeping:
// events and ordinary work come at the same time, and each fence and memory order that matters for
// them is weakened. An event or work that is lost is found as a deadlock: all threads wait.
#include <garrick/sched/parking/leading.hpp>

#include <garrick/base/concurrency/leader_seat.hpp>
#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/queues/inbox.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::sched;
using namespace garrick::base::model;
using garrick::base::event_loop;
using garrick::base::interruptible;
using garrick::base::keeper_turn;

namespace {

using model_sleepers = sleepers<relacy_atomics, parker>;

/// A bell that wakes a waiting thread. It promises no order.
struct bell final : interruptible {
  relacy_atomics::atomic<std::uint32_t> rung{0};

  void interrupt() noexcept override {
    rung.store(1, relaxed);  // order: relaxed, as above
    relacy_atomics::wake_one(rung);
  }
  void wait() {
    // order: relaxed, as above
    while (rung.exchange(0, relaxed) == 0) relacy_atomics::wait(rung, 0);
  }
};

/// A token ends its owner's wait elsewhere, and carries the waker's writes.
struct elsewhere_suite : rl::test_suite<elsewhere_suite, 2> {
  parker owner;
  bell elsewhere;
  relacy_atomics::cell<int> to_owner{0};

  void thread(unsigned index) {
    if (index == 0) {
      to_owner.set(1);
      owner.unpark_or([this] { elsewhere.interrupt(); });
      return;
    }
    bool has_come = !owner.begin_elsewhere();
    while (!has_come) {
      elsewhere.wait();
      has_come = owner.end_elsewhere() || !owner.begin_elsewhere();
    }
    RL_ASSERT(to_owner.get() == 1);
  }
};

/// Open work as in a deque: its owner makes it visible by a release store and nothing stronger, and
/// all take it by compare-and-swap.
struct open_work {
  relacy_atomics::atomic<int> bottom{0};
  relacy_atomics::atomic<int> top{0};

  // order: relaxed, own value; release, as push_bottom
  void add() { bottom.store(bottom.load(relaxed) + 1, release); }
  bool take() {
    int oldest = top.load(acquire);  // order: acquire both, then acq_rel: as steal
    while (bottom.load(acquire) > oldest)
      // order: as above; relaxed, tried again
      if (top.compare_exchange_weak(oldest, oldest + 1, acq_rel, relaxed)) return true;
    return false;
  }
  bool visible() const {
    const int oldest = top.load(relaxed);  // order: relaxed both, as work_stealing_deque::size
    return bottom.load(relaxed) > oldest;
  }
};

/// A loop with events that give work to the worker that handles them.
struct model_loop {
  static constexpr std::uint32_t ended = 1024;
  bell comes;                                       ///< an event, the end or an interruption
  relacy_atomics::atomic<std::uint32_t> state{0};   ///< the number of events; `ended`
  relacy_atomics::cell<open_work*> queue{nullptr};  ///< the queue of the leader
  std::array<parker, 2> begun;                      ///< for two threads: a worker has begun to lead
  bool has_begun = false;                           ///< for leaders; unknown to the model checker
  unsigned work_of_each = 1;                        ///< pieces of work that an event gives

  void add_event() {
    state.fetch_add(1, release);  // order: release, pairs with lead
    comes.interrupt();
  }
  void end() {
    state.fetch_or(ended, release);  // order: release, pairs with lead
    comes.interrupt();
  }
  bool lead(event_loop::leader& who) {
    if (!std::exchange(has_begun, true))
      for (parker& b : begun) b.unpark();
    comes.wait();
    // order: acquire, the sender's writes; all but the end is taken
    const std::uint32_t seen = state.fetch_and(ended, acquire);
    const std::uint32_t come = seen % ended;
    if (come != 0) who.event_has_come(true);
    for (unsigned i = 0; i < come * work_of_each; ++i) queue.get()->add();
    return seen < ended;
  }
};

/// The seat of that loop, without a keeper: the first thread that arrives sits down.
class keeperless_seat {
 public:
  using loop_type = model_loop;

  bool open(model_loop& loop) {
    loop_ = &loop;
    return true;
  }
  model_loop* try_lead(std::uint64_t) {
    std::uint32_t nobody = 0;
    // order: acquire, the last leader's writes; relaxed, nothing was taken
    return taken_.compare_exchange_strong(nobody, 1, acquire, relaxed) ? loop_ : nullptr;
  }
  void leave(std::uint64_t) { taken_.store(0, release); }  // order: release, for the next leader
  void over() {}

 private:
  model_loop* loop_ = nullptr;
  relacy_atomics::atomic<std::uint32_t> taken_{0};
};

/// The product's seat. Guests are away for long, so they often give it back.
using kept_seat = garrick::base::basic_leader_seat<relacy_atomics, model_loop>;

/// A worker's figures. Each sleep takes long. But if `hurries`, every second sleep takes hardly any
/// time, as if an event had come at once.
struct model_worker {
  struct nap {
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
  };
  struct {
    std::uint64_t now = 1;
    bool hurries = false;
    bool at_once = false;
    std::uint64_t falls_asleep() { return now += 10'000'000; }
    nap awakes(std::uint64_t since) {
      at_once = hurries && !at_once;
      return {since, now = since + (at_once ? 1 : 10'000'000)};
    }
  } figures;
  struct {
    void slept(std::uint64_t, std::uint64_t) {}
  } round;
  bool handles_event = false;
  bool had_event_at_once = false;
};

/// A wrong way for a worker to wake itself: if it once sees no worker parked, it waits for its
/// token.
struct hasty_sleepers : model_sleepers {
  using model_sleepers::sleepers;
  void come_back(std::uint32_t index) noexcept {
    if (any_parked(peek())) return model_sleepers::come_back(index);
    if (!end_elsewhere(index)) park(index);
  }
};

/// One worker falls asleep, another one waits elsewhere and wakes itself, and an outside thread
/// wakes a worker, perhaps twice. Each time the count falls, one thread is woken, and none waits
/// without end.
template <class Sleepers>
struct come_back_suite : rl::test_suite<come_back_suite<Sleepers>, 3> {
  bell elsewhere;
  Sleepers sleeping{2, &elsewhere};

  come_back_suite() {
    sleeping.prepare_park(1, false);
    RL_ASSERT(sleeping.begin_elsewhere(1));
  }
  void thread(unsigned index) {
    if (index == 0) {
      sleeping.prepare_park(0, false);
      sleeping.park(0);
    } else if (index == 1) {
      sleeping.come_back(1);
      sleeping.end_search([] { return false; });
      sleeping.wake_all();
    } else {
      sleeping.announce();
      sleeping.wake_another();
    }
  }
  void after() {
    RL_ASSERT(!sleeping.looks_parked(1));
    RL_ASSERT(sleeping.describe() ==
              (sleeping.looks_parked(0) ? "searching 0, parked 1" : "searching 1, parked 0"));
  }
};

/// The workers of a policy (work_stealing.hpp), and the threads that give them work.
template <unsigned Workers, class Seat = keeperless_seat>
struct workers_with_loop {
  struct item {
    item* queue_link = nullptr;
  };
  /// The result of a worker's look.
  enum class found : std::uint8_t { nothing, work, work_of_event };

  model_loop loop;
  Seat seat;
  model_sleepers sleeping{Workers, &loop.comes};
  std::array<model_worker, Workers> workers;
  std::array<open_work, Workers> queues;
  work_inbox<relacy_atomics, item> inbox;
  relacy_atomics::atomic<std::uint32_t> left;
  parker one_is_left;
  relacy_atomics::atomic<std::uint32_t> stopping{0};
  unsigned stopped_asleep = 0;  ///< for the check; the model checker does not follow it

  explicit workers_with_loop(std::uint32_t work, bool hurry = false) : left(work) {
    RL_ASSERT(seat.open(loop));
    for (model_worker& w : workers) w.figures.hurries = hurry;
  }

  bool work_visible() const {
    for (const open_work& q : queues)
      if (q.visible()) return true;
    return !inbox.looks_empty();
  }
  bool find() {
    if (inbox.take_oldest() != nullptr) {
      if (!inbox.looks_empty()) sleeping.announce();
      return true;
    }
    for (open_work& q : queues)
      if (q.take()) return true;
    return false;
  }
  void end_search() {
    sleeping.end_search([this] { return work_visible(); });
  }

  /// Searches, or waits until woken or until an event comes. Returns `nothing` at the end.
  found wait_for_work(unsigned self) {
    leading<model_sleepers, Seat> events(sleeping, self, &seat);
    bool searching = sleeping.try_begin_search();
    for (;;) {
      if (searching && find()) {
        end_search();
        return found::work;
      }
      sleeping.prepare_park(self, searching);
      if (work_visible()) sleeping.announce(self);
      const bool handled = events.nap(workers[self], [&] {
        loop.queue.set(&queues[self]);
        end_search();
      });
      if (stopping.load(relaxed) != 0) {  // order: relaxed; the token carried it
        if (!handled) ++stopped_asleep;
        return found::nothing;
      }
      if (handled && take_woken(self)) return found::work_of_event;
      searching = !handled || sleeping.try_begin_search();
    }
  }
  bool take_woken(unsigned self) {
    const bool taken = queues[self].take();
    if (queues[self].visible()) sleeping.announce();
    return taken;
  }

  /// Calls `at_event()` before work that an event has given this worker.
  template <class AtEvent>
  void run_worker(unsigned self, AtEvent at_event) {
    for (found f; (f = wait_for_work(self)) != found::nothing;) {
      if (f == found::work_of_event) at_event();
      do count_off();
      while (queues[self].take());
    }
  }
  void run_worker(unsigned self) {
    run_worker(self, [] {});
  }
  /// Counts a piece of work as done.
  void count_off() {
    const std::uint32_t before = left.fetch_sub(1, acq_rel);  // order: acq_rel, the last of all
    if (before == 1) stop();
    if (before == 2) one_is_left.unpark();
  }

  void add_from_outside(item& i) {
    inbox.push(i);
    sleeping.announce();
  }
  void stop() {
    stopping.store(1, release);  // order: release, the tokens carry it
    loop.end();
    sleeping.wake_all();
  }

  /// A worker that was counted when the end came is still counted, once, and the bits agree.
  void check_counts() const {
    unsigned bits = 0;
    for (unsigned i = 0; i < Workers; ++i) bits += sleeping.looks_parked(i) ? 1 : 0;
    RL_ASSERT(sleeping.describe() == "searching " + std::to_string(stopped_asleep - bits) +
                                         ", parked " + std::to_string(bits));
  }
};

/// One thread adds items and another sends as many events. `Late`: both begin when a worker has
/// begun to wait for events.
template <unsigned Workers, unsigned Items, bool Late>
struct events_suite : rl::test_suite<events_suite<Workers, Items, Late>, Workers + 2>,
                      workers_with_loop<Workers> {
  std::array<typename workers_with_loop<Workers>::item, Items> items;

  events_suite() : workers_with_loop<Workers>(2 * Items, Items > 1) {}

  void thread(unsigned index) {
    if (index < Workers) return this->run_worker(index);
    if (Late) this->loop.begun[index - Workers].park();
    for (auto& i : items) {
      if (index == Workers)
        this->add_from_outside(i);
      else
        this->loop.add_event();
    }
  }
  void after() { this->check_counts(); }
};

/// One worker. Its event lets an outside thread add an item while the worker goes back to sleep.
struct next_suite : rl::test_suite<next_suite, 2>, workers_with_loop<1> {
  item only;
  parker goes;

  next_suite() : workers_with_loop<1>(2) { loop.add_event(); }

  void thread(unsigned index) {
    if (index == 0) return run_worker(0, [this] { goes.unpark(); });
    goes.park();
    add_from_outside(only);
  }
  void after() { check_counts(); }
};

/// An event gives work to the worker that handles it, and then an item arrives. The worker that
/// runs the first piece stays busy until everything else is done, so the other worker has to see
/// the rest.
template <unsigned PerEvent>
struct busy_suite : rl::test_suite<busy_suite<PerEvent>, 3>, workers_with_loop<2> {
  item only;

  busy_suite() : workers_with_loop<2>(PerEvent + 1) { loop.work_of_each = PerEvent; }

  void thread(unsigned index) {
    if (index < 2) return run_worker(index, [this] { one_is_left.park(); });
    loop.begun[0].park();
    loop.add_event();
    add_from_outside(only);
  }
  void after() { check_counts(); }
};

/// The end comes at the same time as an event and an item.
struct stop_suite : rl::test_suite<stop_suite, 4>, workers_with_loop<2> {
  item only;

  stop_suite() : workers_with_loop<2>(100, true) {}

  void thread(unsigned index) {
    if (index < 2) return run_worker(index);
    if (index == 2) return stop();
    loop.add_event();
    add_from_outside(only);
  }
};

/// The product's seat, with a keeper that handles events as an outside thread. `Early`: the loop
/// ends while there is work, and not only with the workers.
template <bool Early>
struct kept_suite : rl::test_suite<kept_suite<Early>, 4>,
                    workers_with_loop<2, kept_seat>,
                    event_loop::leader {
  std::array<item, 3> items;
  unsigned used = 1;  ///< the number of items in use; only the keeper counts it
  open_work of_keeper;

  kept_suite() : workers_with_loop<2, kept_seat>(3, !Early) {}

  void thread(unsigned index) {
    if (index < 2) return run_worker(index);
    if (index == 2) return keep();
    loop.add_event();
    add_from_outside(items[0]);
    loop.add_event();
    if (Early) loop.end();
  }
  void keep() {
    while (seat.follow() == keeper_turn::leads && lead_until_wanted()) {}
    seat.close();
  }
  /// Returns false if the loop has come to its end.
  bool lead_until_wanted() {
    for (;;) {
      const bool goes_on = loop.lead(*this);
      while (of_keeper.take()) add_from_outside(items[used++]);
      if (!goes_on || seat.is_wanted()) return goes_on;
    }
  }
  void event_has_come(bool) noexcept override { loop.queue.set(&of_keeper); }
  void after() { check_counts(); }
};

constexpr unsigned thorough = 100'000;
constexpr unsigned large = 15'000;  ///< for suites with long runs
constexpr unsigned enough_to_fail = 200'000;

}  // namespace

TEST_CASE("a token finds its owner elsewhere, and needs both of its memory orders") {
  CHECK(explore<elsewhere_suite>(thorough) == "");
  CHECK(needs<elsewhere_suite>(garrick::base::parker_order::take_token, acquire, enough_to_fail));
  CHECK(needs<elsewhere_suite>(garrick::base::parker_order::leave_token, release, enough_to_fail));
}

TEST_CASE("a worker that wakes itself is counted once, and waits for no token in vain") {
  CHECK(explore<come_back_suite<model_sleepers>>(thorough) == "");
  CHECK(explore<come_back_suite<hasty_sleepers>>(enough_to_fail) != "");
}

TEST_CASE("no event and no work is lost while a worker waits for events") {
  for (const fences kind : {fences::symmetric, fences::asymmetric}) {
    CHECK(explore<events_suite<2, 1, false>>(large, {}, kind) == "");
    CHECK(explore<events_suite<2, 1, true>>(large, {}, kind) == "");
    CHECK(explore<events_suite<2, 2, true>>(large, {}, kind) == "");
    CHECK(explore<events_suite<3, 1, true>>(large, {}, kind) == "");
    CHECK(explore<next_suite>(large, {}, kind) == "");
    CHECK(explore<busy_suite<1>>(large, {}, kind) == "");
    CHECK(explore<busy_suite<2>>(large, {}, kind) == "");
  }
  CHECK(explore<stop_suite>(large) == "");
}

TEST_CASE("no event and no work is lost with the product's seat and its keeper") {
  CHECK(explore<kept_suite<false>>(large) == "");
  CHECK(explore<kept_suite<true>>(large) == "");
}

TEST_CASE("the work of an event needs both fences") {
  CHECK(explore<busy_suite<2>>(enough_to_fail, {no_light_fence}) != "");
  CHECK(explore<busy_suite<2>>(enough_to_fail, {no_heavy_fence}) != "");
  CHECK(explore<busy_suite<2>>(enough_to_fail, {no_heavy_fence}, fences::asymmetric) != "");
}

TEST_CASE("the work of an event needs the memory orders of the sleepers") {
  using enum sleepers_order;
  for (const fences kind : {fences::symmetric, fences::asymmetric}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(needs<next_suite>(park, seq_cst, enough_to_fail, kind));
    CHECK(needs<next_suite>(read_state, seq_cst, enough_to_fail, kind));
    CHECK(needs<busy_suite<1>>(read_state, seq_cst, enough_to_fail, kind));
    CHECK(needs<busy_suite<1>>(end_search, seq_cst, enough_to_fail, kind));
  }
}
