// The seat under the model checker, as it is and with each of its memory orders weakened: guests
// and the keeper lead in turn, and no thread waits for a seat that no thread leaves. A lost wake-up
// is found as a deadlock: all threads wait.
#include <garrick/base/concurrency/leader_seat.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 50'000;

/// The led object. Each leader writes it, and sees its predecessor's writes.
struct model_loop {
  relacy_atomics::cell<int> content{0};
  // for the checks; the model checker does not follow these
  int leaders = 0;
  int led = 0;

  void lead() {
    RL_ASSERT(++leaders == 1);
    rl::ctx().sched();
    RL_ASSERT(content.get() == led);
    content.set(++led);
    --leaders;
  }
  /// Called when no thread may touch the loop any more. The checker reports a later access.
  void end() { content.set(-1); }
};

template <class Atomics>
using model_seat = basic_leader_seat<Atomics, model_loop>;

// Times of guests: away for a moment, or so long that the next guest gives the seat back.
constexpr std::uint64_t leaves_at = 1;
constexpr std::uint64_t soon = 2;
constexpr std::uint64_t late = 1'000'000'000;

/// A guest tries to lead a few times and is never away for long.
template <class Seat>
void visit(Seat& seat) {
  for (int i = 0; i < 3; ++i) {
    if (model_loop* const loop = seat.try_lead(soon)) {
      loop->lead();
      seat.leave(leaves_at);
    } else {
      relacy_atomics::pause();
    }
  }
}

/// The keeper and two guests. Where the keeper sleeps without a limit, the guest that leaves has to
/// wake it; the keeper's other wait ends by time. In the end the seat gets another loop.
struct turns_suite : rl::test_suite<turns_suite, 3> {
  model_loop loop;
  model_loop next;
  model_seat<relacy_atomics> seat;

  void thread(unsigned index) {
    if (index != 0) return visit(seat);
    RL_ASSERT(seat.open(loop));
    loop.lead();
    for (int turn = 0; turn < 2; ++turn) {
      RL_ASSERT(seat.follow() == keeper_turn::leads);
      loop.lead();
    }
    seat.close();
    loop.end();
    RL_ASSERT(seat.open(next));
    next.lead();
    seat.close();
  }
};

/// Two loops compete for one seat, and a guest leads the loop that has it.
struct loops_suite : rl::test_suite<loops_suite, 3> {
  std::array<model_loop, 2> loops;
  model_seat<relacy_atomics> seat;
  int open = 0;    // for the check; the model checker does not follow it
  int opened = 0;  // as above

  void thread(unsigned index) {
    if (index == 2) return visit(seat);
    model_loop& own = loops[index];
    if (!seat.open(own)) return;
    RL_ASSERT(++open == 1);
    ++opened;
    own.lead();
    RL_ASSERT(seat.follow() == keeper_turn::leads);
    own.lead();
    --open;
    seat.close();
    own.end();
  }
  void after() { RL_ASSERT(opened != 0); }
};

/// A guest wants the seat for as long as the keeper sits there, and the keeper notices.
struct wanted_suite : rl::test_suite<wanted_suite, 2> {
  model_loop loop;
  model_seat<relacy_atomics> seat;

  wanted_suite() { RL_ASSERT(seat.open(loop)); }

  void thread(unsigned index) {
    if (index == 0) {
      do {
        while (!seat.is_wanted()) relacy_atomics::pause();
        loop.lead();
      } while (seat.follow() == keeper_turn::leads);
      return;
    }
    while (seat.try_lead(soon) == nullptr) relacy_atomics::pause();
    loop.lead();
    seat.over();
  }
};

/// Two guests. Each absence counts as a long one, so the next guest that sits down gives the seat
/// back, and the keeper leads. Neither of the keeper's waits ends by time.
struct given_back_suite : rl::test_suite<given_back_suite, 3> {
  model_loop loop;
  model_seat<patient_atomics> seat;
  // for the checks; the model checker does not follow these
  bool has_left = false;
  bool is_given_back = false;
  bool keeper_leads = false;

  given_back_suite() { RL_ASSERT(seat.open(loop)); }

  void thread(unsigned index) {
    if (index == 0) {
      RL_ASSERT(seat.follow() == keeper_turn::leads);
      keeper_leads = true;
      loop.lead();
      return;
    }
    while (!is_given_back && !keeper_leads) {
      if (seat.try_lead(late) == nullptr) {
        relacy_atomics::pause();
        continue;
      }
      RL_ASSERT(!is_given_back && !keeper_leads);
      loop.lead();
      is_given_back = has_left;
      has_left = true;
      seat.leave(leaves_at);
    }
    RL_ASSERT(seat.try_lead(late) == nullptr);
  }
};

/// Two guests. Each leads once and then calls the keeper. Neither of the keeper's waits ends by
/// time.
struct called_suite : rl::test_suite<called_suite, 3> {
  model_loop loop;
  model_seat<patient_atomics> seat;
  bool keeper_leads = false;  // for the guests' end; the model checker does not follow it

  called_suite() { RL_ASSERT(seat.open(loop)); }

  void thread(unsigned index) {
    if (index == 0) {
      RL_ASSERT(seat.follow() == keeper_turn::leads);
      keeper_leads = true;
      loop.lead();
      seat.close();
      return loop.end();
    }
    bool has_led = false;
    while (!has_led && !keeper_leads) {
      if (seat.try_lead(soon) != nullptr) {
        loop.lead();
        seat.leave(leaves_at);
        has_led = true;
      } else {
        relacy_atomics::pause();
      }
    }
    seat.call_keeper();
  }
};

/// A guest that leads until the loop has ended, another guest, and the keeper. With
/// `patient_atomics` the keeper has to be woken in both of its waits.
template <class Atomics>
struct over_suite : rl::test_suite<over_suite<Atomics>, 3> {
  model_loop loop;
  model_seat<Atomics> seat;
  bool is_over = false;  // for the check; the model checker does not follow it

  over_suite() { RL_ASSERT(seat.open(loop)); }

  void thread(unsigned index) {
    if (index == 0) {
      while (seat.follow() == keeper_turn::leads) {
        RL_ASSERT(!is_over);
        loop.lead();
      }
      RL_ASSERT(is_over);
      loop.lead();
      seat.close();
      loop.end();
    } else if (index == 1) {
      while (seat.try_lead(soon) == nullptr) relacy_atomics::pause();
      loop.lead();
      is_over = true;
      seat.over();
      RL_ASSERT(seat.try_lead(soon) == nullptr);
    } else {
      for (int i = 0; i < 3; ++i) {
        if (seat.try_lead(soon) == nullptr) continue;
        RL_ASSERT(!is_over);
        loop.lead();
        seat.leave(leaves_at);
      }
    }
  }
};

}  // namespace

TEST_CASE(
    "one thread at a time leads, sees the writes of the one before, and the keeper does not miss a "
    "turn") {
  CHECK(explore<turns_suite>(thorough) == "");
  CHECK(explore<loops_suite>(thorough) == "");
}
TEST_CASE("the keeper sees that a guest wants the seat") {
  CHECK(explore<wanted_suite>(thorough) == "");
}
TEST_CASE(
    "a guest that gives the seat back wakes the keeper, and no other thread leads before it") {
  CHECK(explore<given_back_suite>(thorough) == "");
}
TEST_CASE("a keeper that is called leads as soon as no other thread does") {
  CHECK(explore<called_suite>(thorough) == "");
}
TEST_CASE("when the loop is over the keeper is told, and no guest leads again") {
  CHECK(explore<over_suite<patient_atomics>>(thorough) == "");
  CHECK(explore<over_suite<relacy_atomics>>(thorough) == "");
}
TEST_CASE("the seat needs each of its memory orders") {
  const auto need = [](leader_seat_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<turns_suite>(at, as_written, enough_to_fail));
    CHECK(needs<loops_suite>(at, as_written, enough_to_fail));
  };
  need(leader_seat_order::take, acquire);
  need(leader_seat_order::leave, release);
}
