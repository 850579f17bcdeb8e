// Turns that are lent to an actor, under the model checker, as they are and with each of their
// memory orders weakened.
#include <garrick/patterns/node/borrowed_turns.hpp>
#include <garrick/patterns/node/run_right.hpp>

#include <doctest/doctest.h>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::model;
using namespace garrick::patterns::detail;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 100'000;

/// The node of an actor that feeds a stream. The actor puts tuples out without the run right, has a
/// turn if a `go` has come, and ends. Two other threads have something for the node. When the actor
/// has ended, the thread that gets the run right runs the node.
struct feeder_suite : rl::test_suite<feeder_suite, 3> {
  basic_run_right<relacy_atomics> right;
  basic_borrowed_turns<relacy_atomics> turns;
  relacy_atomics::cell<int> output{0};   ///< the actor's until it has ended, then the holder's
  relacy_atomics::cell<int> figures{0};  ///< the holder's
  relacy_atomics::atomic<int> mail{0};   ///< the actor's mailbox: a `go`
  relacy_atomics::atomic<int> asked{0};
  // for the checks; the model checker does not follow these
  int seen = 0;

  /// Needs the run right.
  void run() {
    do {
      figures.set(figures.get() + 1);
      right.look();
      output.set(output.get() + 1);
      seen = asked.load(relaxed);
    } while (!right.release());
  }
  void wake() {
    if (!right.ask()) return;
    figures.set(figures.get() + 1);
    // relaxed: the token alone hands the run right over
    if (!turns.lend([&] { mail.store(1, relaxed); })) run();
  }

  void thread(unsigned index) {
    if (index != 0) {
      asked.fetch_add(1, relaxed);
      return wake();
    }
    for (int i = 0; i < 2; ++i) {
      output.set(output.get() + 1);
      if (mail.exchange(0, relaxed) != 0 && turns.take()) run();
    }
    if (turns.end()) return run();
    asked.fetch_add(1, relaxed);
    wake();
  }
  /// All requests were looked at, and the run right is not lost.
  void after() {
    RL_ASSERT(!right.is_held());
    RL_ASSERT(seen == asked.load(relaxed));
  }
};

}  // namespace

TEST_CASE("a run right that was lent to an actor is not lost when that ends") {
  CHECK(explore<feeder_suite>(thorough) == "");
}
TEST_CASE("lent turns need each of their memory orders") {
  const auto need = [](borrowed_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<feeder_suite>(at, as_written, enough_to_fail));
  };
  need(borrowed_order::lend, acq_rel);
  need(borrowed_order::take, acq_rel);
  need(borrowed_order::ended, release);
  need(borrowed_order::looks, acquire);
}
