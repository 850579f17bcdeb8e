// Credit that is granted while senders take it, wait for it and pause, under the model checker: the
// shipped credit and lot. A wake-up that is lost is a deadlock, since these waits have no limit.
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/overload/internal/sender_credit.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::core;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;
constexpr std::uint64_t receiver = 1;
constexpr auto for_ever = garrick::base::duration::seconds(100'000'000);

struct granted {
  basic_drain_lot<patient_atomics, 2> lot;
  basic_sender_credit<patient_atomics> credit{0, for_ever};

  void take() {
    if (!credit.take()) RL_ASSERT(credit.wait(lot, receiver, [] { return false; }));
  }
  void grant(std::uint32_t messages) { credit.grant(lot, receiver, messages); }
};

/// Two senders need one credit each. They get both in one grant, or one by one. In the latter case
/// a message without credit has left a debt, which one of the three grants pays.
template <bool Together>
struct wait_suite : rl::test_suite<wait_suite<Together>, 3> {
  granted g;

  void thread(unsigned index) {
    if (index != 2) return g.take();
    if (Together) {
      g.grant(2);
    } else {
      g.credit.owe();
      for (int i = 0; i < 3; ++i) g.grant(1);
    }
  }
  void after() { RL_ASSERT(g.credit.left() == 0); }
};

/// A sender sends without credit, and pauses. Its record is claimed once, by a grant or by the
/// sender itself, and the sender continues.
struct pause_suite : rl::test_suite<pause_suite, 2> {
  granted g;
  patient_atomics::atomic<bool> is_listed{false};
  patient_atomics::atomic<bool> is_claimed{false};
  parker runner;

  bool claims() { return !is_claimed.exchange(true, acq_rel); }
  void thread(unsigned index) {
    if (index == 0) {
      g.credit.owe();
      is_listed.store(true, release);
      if (g.credit.begin_pause() || !claims()) runner.park();
      return;
    }
    for (int i = 0; i < 2; ++i) {
      g.grant(1);
      if (g.credit.ends_pauses() && is_listed.load(acquire) && claims()) runner.unpark();
    }
  }
  void after() { RL_ASSERT(g.credit.left() == 1); }
};

}  // namespace

TEST_CASE("a sender that waits for credit gets it, and the sum is exact") {
  CHECK(explore<wait_suite<false>>(thorough) == "");
  CHECK(explore<wait_suite<true>>(thorough) == "");
}
TEST_CASE("an actor that pauses for credit goes on, once") {
  CHECK(explore<pause_suite>(thorough) == "");
}

TEST_CASE("credit needs its sequentially consistent orders") {
  CHECK(needs<wait_suite<true>>(credit_order::see_credit, seq_cst, enough_to_fail));
  CHECK(needs<wait_suite<true>>(credit_order::count_waiter, seq_cst, enough_to_fail));
  CHECK(needs<wait_suite<true>>(credit_order::grant, seq_cst, enough_to_fail));
  CHECK(needs<wait_suite<true>>(credit_order::see_waiter, seq_cst, enough_to_fail));
  CHECK(needs<pause_suite>(credit_order::see_credit, seq_cst, enough_to_fail));
  CHECK(needs<pause_suite>(credit_order::begin_pause, seq_cst, enough_to_fail));
  CHECK(needs<pause_suite>(credit_order::grant, seq_cst, enough_to_fail));
  CHECK(needs<pause_suite>(credit_order::see_pause, seq_cst, enough_to_fail));
}
