// A timer that its owner cancels while the clock's thread fires it, under the model checker: the
// shipped steps around a clock service of a few lines.
#include <garrick/core/turn/internal/timer_steps.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::core;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;

/// A timer, and its entry at the service. A periodic timer is armed again under another id.
struct model_record {
  using atomics = relacy_atomics;

  atomics::atomic<std::uint8_t> state_{timer_steps::armed};
  atomics::atomic<std::uint32_t> holders_{2};
  atomics::atomic<std::uint64_t> id_{0};
  atomics::atomic<std::uint64_t> pending{0};  ///< the id that the service has; 0: none
  atomics::atomic<bool> ended{false};         ///< the service drops later timers
  bool is_slow = false;                       ///< its owner is slow: a beat comes first
  bool may_end = false;                       ///< an arming looks at `ended`; left out elsewhere,
                                              ///< since fewer steps have fewer interleavings
  atomics::cell<int> armed_content{0};        ///< written before the timer is armed, each time
  atomics::cell<int> content{1};              ///< the envelope and the handle to the target
  atomics::cell<int> memory{0};
  // for checks; the model checker does not follow these
  std::uint64_t times_armed = 0;
  int pushed = 0;
  int finished = 0;
  int freed = 0;

  void touch() {
    RL_ASSERT(freed == 0);
    static_cast<void>(memory.get());
  }
  void push() {
    touch();
    rl::ctx().sched();
    RL_ASSERT(content.get() == 1);
    ++pushed;
  }
  /// The service fires a due timer, or ends. Returns false if it has none.
  template <class Fire>
  bool due(Fire fire) {
    if (pending.exchange(0, acq_rel) == 0) return false;  // order: as the service's lock
    touch();
    static_cast<void>(armed_content.get());
    fire();
    return true;
  }

  // called by the steps
  std::uint64_t arm_at_service() {
    touch();
    if (may_end && ended.load(acquire)) {  // order: as the service's lock
      times_armed = 0;
      timer_steps::fire_once(*this, [] {});
      return 0;
    }
    armed_content.set(1);
    const std::uint64_t next = ++times_armed;
    RL_ASSERT(pending.exchange(next, acq_rel) == 0);  // order: as the service's lock
    while (is_slow && next == 1 && times_armed == 1) relacy_atomics::pause();
    return next;
  }
  bool cancel_at_service(std::uint64_t mine) {
    touch();
    RL_ASSERT(mine == times_armed);  // T3
    // order: as the service's lock
    return mine != 0 && pending.compare_exchange_strong(mine, 0, acq_rel, relaxed);
  }
  void finish() {
    touch();
    RL_ASSERT(content.get() == 1);
    content.set(0);
    ++finished;
  }
  void free_self() {
    RL_ASSERT(++freed == 1);
    memory.set(-1);
  }
};

/// The owner arms the timer, cancels it and drops its reference; the service fires, or ends; if it
/// `Ends`, a beat may be under way then.
template <bool Periodic, bool Ends = false>
struct timer_suite : rl::test_suite<timer_suite<Periodic, Ends>, 2> {
  model_record r;
  bool handed = false;
  bool cancelled = false;  ///< `cancel` has returned true
  int before_cancel = 0;

  void before() { r.may_end = Ends; }
  void thread(unsigned index) {
    if (index == 0) {
      timer_steps::hand_to_service(r);
      handed = true;
      cancelled = timer_steps::cancel(r);
      before_cancel = r.pushed;
      timer_steps::drop_holder(r);
      if (Ends) r.ended.store(true, release);  // order: as the service's lock
      return;
    }
    if (Periodic) {
      for (int i = 0; i < 2; ++i)
        r.due([&] {
          timer_steps::fire_again(
              r, [&] { r.push(); }, [&] { timer_steps::hand_to_service_again(r); });
        });
    } else {
      r.due([&] { timer_steps::fire_once(r, [&] { r.push(); }); });
    }
    while (!handed) relacy_atomics::pause();
    end_service();
  }
  void end_service() {
    r.due([&] { timer_steps::fire_once(r, [] {}); });
  }
  void after() {
    end_service();
    RL_ASSERT(r.finished == 1 && r.freed == 1);
    RL_ASSERT(r.pushed <= (Periodic ? 2 : 1));
    if (!Periodic) RL_ASSERT(!cancelled || r.pushed == 0);
    // a beat that is under way may still come
    if (cancelled) RL_ASSERT(r.pushed <= before_cancel + 1);
  }
};

/// Like the suite above, but a beat is almost over before the owner has got the first id.
struct slow_owner_suite : rl::test_suite<slow_owner_suite, 2> {
  model_record r;

  void before() { r.is_slow = true; }
  void thread(unsigned index) {
    if (index == 0) {
      timer_steps::hand_to_service(r);
      timer_steps::cancel(r);
      timer_steps::drop_holder(r);
      return;
    }
    while (!r.due([&] {
      timer_steps::fire_again(r, [&] { r.push(); }, [&] { timer_steps::hand_to_service_again(r); });
    }))
      relacy_atomics::pause();
  }
  void after() { RL_ASSERT(r.finished == 1 && r.freed == 1 && r.pushed == 1); }
};

}  // namespace

TEST_CASE("a timer is cleaned up once and freed once, and one that was cancelled does not fire") {
  CHECK(explore<timer_suite<false>>(thorough) == "");
}
TEST_CASE("a periodic timer may be cancelled at any moment of its beat") {
  CHECK(explore<timer_suite<true>>(thorough) == "");
}
TEST_CASE("a periodic timer's first beat may come before its owner knows its id") {
  CHECK(explore<slow_owner_suite>(thorough) == "");
}
TEST_CASE("a service may end while a periodic timer's beat is under way and its owner is gone") {
  CHECK(explore<timer_suite<true, true>>(thorough) == "");
}
TEST_CASE("a timer needs each of its memory orders") {
  CHECK(needs<timer_suite<true>>(timer_order::cancel, acquire, enough_to_fail));
  CHECK(needs<timer_suite<true>>(timer_order::armed_again, release, enough_to_fail));
  CHECK(needs<timer_suite<true>>(timer_order::drop_holder, acq_rel, enough_to_fail));
}
