// The slot of a detached actor's thread under the model checker, as it is and with its memory
// orders weakened. A lost wake-up is a deadlock.
#include <garrick/system/threads/internal/thread_slot.hpp>

#include <doctest/doctest.h>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::system;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;

/// The part of a cell that the slot needs: a sender that finds it idle gives it to its thread.
struct model_cell {
  relacy_atomics::atomic<int> mail{0};
  relacy_atomics::cell<int> content{0};
};
using slot_of_model = thread_slot<model_cell, relacy_atomics>;

/// Two senders wake the actor, which ends with its third message. A sender that has seen that the
/// thread is free gives it another actor, perhaps during the last run of the first actor, and tells
/// the thread to quit when the other actor has run.
struct serve_suite : rl::test_suite<serve_suite, 3> {
  slot_of_model slot;
  model_cell cell;
  model_cell another;
  relacy_atomics::cell<int> orders{0};
  relacy_atomics::atomic<int> free{0};
  relacy_atomics::atomic<int> served{0};
  int handled = 0;

  void send() {
    // order: as a push
    if (cell.mail.fetch_add(1, acq_rel) != 0) return;
    cell.content.set(cell.content.get() + 1);  // for the holder of the run right
    slot.give(cell);
  }
  void run() {
    cell.content.set(cell.content.get() + 1);
    int seen = cell.mail.load(acquire);  // order: as the runner's look
    for (;;) {
      int left = seen;
      handled += seen;
      // order: as the pool's lock; before the release, after which the cell is not ours
      if (handled == 3) free.store(1, release);
      if (cell.mail.compare_exchange_strong(left, 0, release, relaxed))
        return;  // order: as release
      handled -= seen;
      RL_ASSERT(handled != 3);
      seen = cell.mail.load(acquire);  // order: as the runner's look
    }
  }
  void serve_another() {
    while (free.load(acquire) == 0) relacy_atomics::pause();  // order: as the pool's lock
    another.content.set(1);
    slot.give(another);
    while (served.load(acquire) == 0) relacy_atomics::pause();  // order: as the pool's lock
    orders.set(1);
    slot.tell_quit();
  }
  void thread(unsigned index) {
    if (index != 0) {
      send();
      if (index == 1)
        send();
      else
        serve_another();
      return;
    }
    while (model_cell* const next = slot.next()) {
      if (next == &cell) {
        run();
        continue;
      }
      RL_ASSERT(next == &another && handled == 3 && another.content.get() == 1);
      served.store(1, release);  // order: as the pool's lock
    }
    RL_ASSERT(orders.get() == 1);
  }
};

/// An actor that waits inside its run, with and without a limit, is woken when it is given to its
/// thread.
struct wait_suite : rl::test_suite<wait_suite, 2> {
  slot_of_model slot;
  model_cell cell;

  void thread(unsigned index) {
    if (index == 1) {
      cell.content.set(1);
      slot.give(cell);
      return;
    }
    if (!slot.wait(1000)) RL_ASSERT(slot.wait(-1));
    RL_ASSERT(cell.content.get() == 1);
    RL_ASSERT(!slot.wait(1000));
  }
};

}  // namespace

TEST_CASE("a thread runs its actor, and then the next one given to it, before it ends") {
  CHECK(explore<serve_suite>(thorough) == "");
}
TEST_CASE("an actor that waits on its thread is woken") {
  CHECK(explore<wait_suite>(thorough) == "");
}
TEST_CASE("a thread's slot needs each of its memory orders") {
  CHECK(needs<wait_suite>(slot_order::give, release, enough_to_fail));
  CHECK(needs<wait_suite>(slot_order::take, acquire, enough_to_fail));
  CHECK(needs<serve_suite>(slot_order::tell_quit, release, enough_to_fail));
  CHECK(needs<serve_suite>(slot_order::see_quit, acquire, enough_to_fail));
}
