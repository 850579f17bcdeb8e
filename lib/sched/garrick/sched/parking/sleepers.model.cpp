// The sleeping protocol under the model checker: workers that add and take open work, outside
// threads, the ticker, and each memory order and fence weakened. A lost wake-up is found as a
// deadlock: all threads wait.
#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/parking/slot_ticker.hpp>
#include <garrick/sched/queues/inbox.hpp>
#include <garrick/sched/queues/next_slot.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::sched;
using namespace garrick::base::model;

namespace {

using model_sleepers = sleepers<relacy_atomics, parker>;

/// A woken thread sees the waker's plain write, and no token is lost.
struct parker_suite : rl::test_suite<parker_suite, 2> {
  parker first;
  parker second;
  relacy_atomics::cell<int> to_first{0};
  relacy_atomics::cell<int> to_second{0};

  void thread(unsigned index) {
    if (index == 0) {
      to_second.set(1);
      second.unpark();
      first.park();
      RL_ASSERT(to_first.get() == 1);
    } else {
      second.park();
      RL_ASSERT(to_second.get() == 1);
      to_first.set(1);
      first.unpark();
    }
  }
};

/// Open work as in a deque: its owner makes it visible by a release store and nothing stronger, and
/// thieves take it by compare-and-swap.
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

/// The steps of any policy's worker around the protocol.
template <unsigned Workers>
struct worker_loops {
  model_sleepers sleeping{Workers};
  std::array<open_work, Workers> queues;
  relacy_atomics::atomic<std::uint32_t> left;
  relacy_atomics::atomic<std::uint32_t> stopping{0};

  explicit worker_loops(std::uint32_t items) : left(items) {}

  bool work_visible() const {
    for (const open_work& q : queues)
      if (q.visible()) return true;
    return false;
  }

  /// Takes one item from any queue. Returns false if there is none.
  bool take_one() {
    for (open_work& q : queues)
      if (q.take()) return true;
    return false;
  }

  void count_off() {
    // order: acq_rel, the last of all
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // order: release, the tokens carry it
    stopping.store(1, std::memory_order_release);
    sleeping.wake_all();
  }

  void run_worker(std::uint32_t self) {
    bool searching = sleeping.try_begin_search();
    for (;;) {
      // order: relaxed; only stops earlier
      while (stopping.load(std::memory_order_relaxed) == 0 && searching && take_one()) {
        sleeping.end_search([this] { return work_visible(); });
        count_off();
        searching = sleeping.try_begin_search();
      }
      // order: relaxed; the token carried it
      if (stopping.load(std::memory_order_relaxed) != 0) return;
      sleeping.prepare_park(self, searching);
      if (work_visible()) sleeping.announce(self);
      sleeping.park(self);
      // order: relaxed; the token carried it
      if (stopping.load(std::memory_order_relaxed) != 0) return;
      searching = true;
    }
  }
};

/// Two or three workers; the first adds two items of open work on its way to sleep and takes none
/// itself before that.
template <unsigned Workers>
struct inside_suite : rl::test_suite<inside_suite<Workers>, Workers> {
  worker_loops<Workers> all{2};

  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 2; ++i) {
        all.queues[0].add();
        all.sleeping.announce();
      }
    }
    all.run_worker(index);
  }
};

/// The owner adds work, announces it, and then waits inside its handler until others have done it.
/// Only the workers that it woke can do this work.
struct helpless_suite : rl::test_suite<helpless_suite, 3> {
  worker_loops<3> all{2};
  parker done;

  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 2; ++i) {
        all.queues[0].add();
        all.sleeping.announce();
      }
      done.park();
    } else {
      all.run_worker(index);
      done.unpark();
    }
  }
};

/// One worker and an outside thread that uses the inbox: the case in which the sleeper leaves out
/// its fence (S5).
struct outside_suite : rl::test_suite<outside_suite, 2> {
  struct item {
    item* queue_link = nullptr;
  };
  model_sleepers sleeping{1};
  work_inbox<relacy_atomics, item> inbox;
  std::array<item, 2> items;

  void thread(unsigned index) {
    if (index == 0) {
      for (item& i : items) {
        inbox.push(i);
        sleeping.announce();
      }
    } else {
      run_worker();
    }
  }

  void run_worker() {
    bool searching = sleeping.try_begin_search();
    for (int taken = 0; taken < 2;) {
      if (searching && inbox.take_all([&](item&) { ++taken; }) != nullptr) {
        ++taken;
        sleeping.end_search([this] { return !inbox.looks_empty(); });
        searching = sleeping.try_begin_search();
        continue;
      }
      sleeping.prepare_park(0, searching);
      if (!inbox.looks_empty()) sleeping.announce(0);
      sleeping.park(0);
      searching = true;
    }
  }
};

/// An outside thread adds two items. Each of two workers takes one, and stays busy until the other
/// item has been taken, too.
struct both_needed_suite : rl::test_suite<both_needed_suite, 3> {
  struct item {
    item* queue_link = nullptr;
  };
  model_sleepers sleeping{2};
  std::array<work_inbox<relacy_atomics, item>, 2> inboxes;
  std::array<item, 2> items;
  std::array<parker, 2> met;

  bool work_visible() const { return !inboxes[0].looks_empty() || !inboxes[1].looks_empty(); }

  void thread(unsigned index) {
    if (index == 2) {
      for (unsigned i = 0; i < 2; ++i) {
        inboxes[i].push(items[i]);
        sleeping.announce();
      }
    } else {
      run_worker(index);
      met[1 - index].unpark();
      met[index].park();
    }
  }

  void run_worker(unsigned self) {
    bool searching = sleeping.try_begin_search();
    for (;;) {
      for (unsigned i = 0; searching && i < 2; ++i) {
        if (inboxes[i].take_oldest() == nullptr) continue;
        sleeping.end_search([this] { return work_visible(); });
        return;
      }
      sleeping.prepare_park(self, searching);
      if (work_visible()) sleeping.announce(self);
      sleeping.park(self);
      searching = true;
    }
  }
};

/// Worker 0 adds an item to its deque and stays busy; another item lies in an inbox. Each of the
/// other two workers has to take one of them, and stays busy with it. So the last worker that ends
/// its search must see worker 0's item (c2).
struct finders_suite : rl::test_suite<finders_suite, 3> {
  struct item {
    item* queue_link = nullptr;
  };
  model_sleepers sleeping{3};
  open_work deque;
  work_inbox<relacy_atomics, item> inbox;
  item only;
  std::array<parker, 3> met;
  relacy_atomics::atomic<std::uint32_t> untaken{2};

  bool work_visible() const { return !inbox.looks_empty() || deque.visible(); }

  void before() { inbox.push(only); }

  void thread(unsigned index) {
    if (index == 0) {
      deque.add();
      sleeping.announce();
      met[0].park();
    } else {
      run_worker(index);
    }
  }

  void run_worker(unsigned self) {
    bool searching = sleeping.try_begin_search();
    for (;;) {
      if (searching && (inbox.take_oldest() != nullptr || deque.take())) {
        sleeping.end_search([this] { return work_visible(); });
        if (untaken.fetch_sub(1, acq_rel) == 1)  // order: acq_rel, the last of all
          for (parker& m : met) m.unpark();
        met[self].park();
        return;
      }
      sleeping.prepare_park(self, searching);
      if (work_visible()) sleeping.announce(self);
      sleeping.park(self);
      searching = true;
    }
  }
};

/// Four workers; two of them may search at the same time. Three items come into one inbox. A worker
/// that finds several items moves the rest into its deque. Each worker stays busy until all items
/// have been taken.
template <bool FromOutside>
struct movers_suite : rl::test_suite<movers_suite<FromOutside>, FromOutside ? 5 : 4> {
  struct item {
    item* queue_link = nullptr;
  };
  model_sleepers sleeping{4};
  work_inbox<relacy_atomics, item> inbox;
  std::array<open_work, 4> deques;
  std::array<item, 3> items;
  std::array<parker, 4> met;
  relacy_atomics::atomic<std::uint32_t> untaken{3};
  relacy_atomics::atomic<std::uint32_t> stopping{0};

  bool work_visible() const {
    if (!inbox.looks_empty()) return true;
    for (const open_work& d : deques)
      if (d.visible()) return true;
    return false;
  }

  void before() {
    if (!FromOutside)
      for (item& i : items) inbox.push(i);
  }

  void thread(unsigned index) {
    if (index < 4) return run_worker(index);
    for (item& i : items) {
      inbox.push(i);
      sleeping.announce();
    }
  }

  bool find(unsigned self) {
    bool more = false;
    const auto keep = [&](item&) {
      deques[self].add();
      more = true;
    };
    if (inbox.take_all(keep) != nullptr) {
      if (more) sleeping.announce();
      return true;
    }
    for (unsigned i = 0; i < 4; ++i)
      if (i != self && deques[i].take()) return true;
    return false;
  }

  void run_worker(unsigned self) {
    bool searching = sleeping.try_begin_search();
    for (;;) {
      if (searching && find(self)) {
        sleeping.end_search([this] { return work_visible(); });
        if (untaken.fetch_sub(1, acq_rel) == 1) stop();  // order: acq_rel, the last of all
        met[self].park();
        return;
      }
      sleeping.prepare_park(self, searching);
      if (work_visible()) sleeping.announce(self);
      sleeping.park(self);
      if (stopping.load(relaxed) != 0) return;  // order: relaxed; the token carried it
      searching = true;
    }
  }

  void stop() {
    stopping.store(1, release);  // order: release, the tokens carry it
    sleeping.wake_all();
    for (parker& m : met) m.unpark();
  }
};

/// The common part of all suites of the ticker. One worker puts an item into its slot and stays
/// busy until the item has been exposed and taken. Another worker goes to sleep. The third thread
/// is the ticker.
struct exposure {
  struct item {
    item* queue_link = nullptr;
  };
  model_sleepers sleeping{2};
  slot_ticker<relacy_atomics, parker> ticker;
  next_slot<relacy_atomics, item> slot;
  work_inbox<relacy_atomics, item> inbox;
  item only;
  parker done;

  void put_and_stay_busy() {
    slot.put(only);
    if (model_sleepers::any_parked(sleeping.observe()) && !ticker.armed()) ticker.arm();
    done.park();
  }

  void go_to_sleep() {
    sleeping.prepare_park(1, false);
    if (!inbox.looks_empty()) sleeping.announce(1);
    if (slot.look().item != nullptr && !ticker.armed()) ticker.arm();
    sleeping.park(1);
    RL_ASSERT(inbox.take_oldest() == &only);
    done.unpark();
  }

  void run_ticker() {
    bool awake = false;
    for (;;) {
      if (!awake) ticker.sleep_until_armed();
      awake = false;
      for (int look = 0; look < 2; ++look) {
        if (model_sleepers::any_parked(sleeping.peek()) && slot.look().item != nullptr) {
          if (item* stolen = slot.steal()) {
            inbox.push(*stolen);
            sleeping.announce();
            return;
          }
        }
      }
      ticker.disarm(false);
      if (!model_sleepers::any_parked(sleeping.peek()) || slot.look().item == nullptr) continue;
      ticker.stay_awake();
      awake = true;
    }
  }
};

struct ticker_suite : rl::test_suite<ticker_suite, 3>, exposure {
  void thread(unsigned index) {
    if (index == 0) {
      put_and_stay_busy();
    } else if (index == 1) {
      go_to_sleep();
    } else {
      run_ticker();
    }
  }
};

/// Like ticker_suite, but an outside thread wakes the worker that puts the item, and arms the
/// ticker ahead. The ticker begins awake, so that it disarms itself and goes to sleep meanwhile.
/// `KeepsPromise`: that thread meets the requirement of K3.
template <bool KeepsPromise>
struct ahead_suite : rl::test_suite<ahead_suite<KeepsPromise>, 4>, exposure {
  parker woken;

  ahead_suite() { ticker.arm(); }

  void thread(unsigned index) {
    if (index == 0) {
      woken.park();
      put_and_stay_busy();
    } else if (index == 1) {
      go_to_sleep();
    } else if (index == 2) {
      run_ticker();
    } else {
      const bool ahead = ticker.arm_ahead();
      woken.unpark();
      if (ahead && KeepsPromise) ticker.keep_promise();
    }
  }
};

/// Like ticker_suite, but worker 0 first searches, perhaps while worker 1 parks. Then worker 1 may
/// do without a fence (S5).
struct ticker_after_search_suite : rl::test_suite<ticker_after_search_suite, 3>, exposure {
  ticker_after_search_suite() { ticker.arm(); }

  void thread(unsigned index) {
    if (index == 0) {
      if (sleeping.try_begin_search()) sleeping.end_search([this] { return !inbox.looks_empty(); });
      put_and_stay_busy();
    } else if (index == 1) {
      go_to_sleep();
    } else {
      run_ticker();
    }
  }
};

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 200'000;

/// Returns true if each weaker order makes at least one of the suites fail, with one of the two
/// kinds of fences.
template <class... Suites>
bool some_need(place at, std::memory_order as_written) {
  for (const std::memory_order to : weaker(as_written)) {
    const weakening what{weakening::kind::order, at, to};
    const bool found =
        (... || (!explore<Suites>(enough_to_fail, what, fences::symmetric).empty() ||
                 !explore<Suites>(enough_to_fail, what, fences::asymmetric).empty()));
    if (!found) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a token is never lost and carries the waker's writes") {
  CHECK(explore<parker_suite>(thorough) == "");
}

TEST_CASE("no work is stranded while a worker sleeps") {
  for (const fences kind : {fences::symmetric, fences::asymmetric}) {
    CHECK(explore<inside_suite<2>>(thorough, {}, kind) == "");
    CHECK(explore<inside_suite<3>>(thorough, {}, kind) == "");
    CHECK(explore<helpless_suite>(thorough, {}, kind) == "");
    CHECK(explore<outside_suite>(thorough, {}, kind) == "");
    CHECK(explore<both_needed_suite>(thorough, {}, kind) == "");
    CHECK(explore<ticker_suite>(thorough, {}, kind) == "");
    CHECK(explore<ahead_suite<true>>(thorough, {}, kind) == "");
    CHECK(explore<ticker_after_search_suite>(thorough, {}, kind) == "");
    CHECK(explore<finders_suite>(thorough, {}, kind) == "");
    CHECK(explore<movers_suite<false>>(thorough, {}, kind) == "");
    CHECK(explore<movers_suite<true>>(thorough, {}, kind) == "");
  }
}

TEST_CASE("the parker needs each of its memory orders") {
  CHECK(needs<parker_suite>(garrick::base::parker_order::take_token, acquire, enough_to_fail));
  CHECK(needs<parker_suite>(garrick::base::parker_order::leave_token, release, enough_to_fail));
}

TEST_CASE("the sleepers need both fences") {
  CHECK(explore<helpless_suite>(enough_to_fail, {no_light_fence}) != "");
  CHECK(explore<helpless_suite>(enough_to_fail, {no_heavy_fence}) != "");
  CHECK(explore<helpless_suite>(enough_to_fail, {no_heavy_fence}, fences::asymmetric) != "");
}

TEST_CASE("the sleepers need each of their memory orders") {
  using enum sleepers_order;
  const auto need = [](sleepers_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(some_need<outside_suite, both_needed_suite>(at, as_written));
  };
  need(park, seq_cst);
  need(read_state, seq_cst);
  need(end_search, seq_cst);
}

TEST_CASE("the inbox needs its place in the single order") {
  CHECK(some_need<outside_suite>(inbox_order::push_head, seq_cst));
  CHECK(some_need<outside_suite>(inbox_order::look_head, seq_cst));
}

TEST_CASE("the ticker needs both fences") {
  CHECK(explore<ticker_suite>(enough_to_fail, {no_light_fence}) != "");
  CHECK(explore<ticker_suite>(enough_to_fail, {no_heavy_fence}) != "");
  CHECK(explore<ticker_suite>(enough_to_fail, {no_heavy_fence}, fences::asymmetric) != "");
}

TEST_CASE("a worker that arms the ticker ahead has to wake it") {
  CHECK(explore<ahead_suite<false>>(enough_to_fail) != "");
}
