// The token under the model checker, as it is and with each of its memory orders weakened.
#include <garrick/base/concurrency/run_token.hpp>

#include <doctest/doctest.h>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 200'000;
constexpr unsigned enough_to_fail = 200'000;

/// One runnable that runs three times. A thread starts it and then claims, a second thread claims,
/// and a third takes entries out of a queue. Claimers hold references, as senders hold handles. The
/// last run gives up the runnable's own reference. The holder may also put the runnable on a list
/// of its own, by the queue's link, if no entry in a queue uses the link (as a worker does with
/// memory that it has to reclaim).
struct token_suite : rl::test_suite<token_suite, 3> {
  static constexpr int runs = 3;

  run_token<relacy_atomics> token;
  relacy_atomics::cell<int> content{0};  ///< the runnable's: for the holder of the run right
  /// the queue's link in the runnable: for the queue that holds it
  relacy_atomics::cell<int> link{0};
  relacy_atomics::atomic<int> queue{0};  ///< the number of entries: never more than one, as T1 says
  relacy_atomics::atomic<int> references{3};
  // for the checks; the model checker does not follow these
  int holders = 0;
  int handled = 0;
  int frees = 0;

  void push() {
    link.set(link.get() + 1);
    RL_ASSERT(queue.exchange(1, release) == 0);
  }
  void free() {
    RL_ASSERT(++frees == 1);
    link.set(-1);
    content.set(-1);
  }
  void drop_reference() {
    if (references.fetch_sub(1, acq_rel) == 1 && token.retire()) free();
  }
  /// Needs the run right.
  void run() {
    RL_ASSERT(++holders == 1);
    rl::ctx().sched();
    content.set(content.get() + 1);
    ++handled;
    const bool last = content.get() == runs;
    --holders;
    if (!token.has_stale_entry()) link.set(link.get() + 1);
    if (last)
      drop_reference();
    else if (token.offer())
      push();
  }
  void claim() {
    if (token.claim()) run();
    drop_reference();
  }
  void pop() {
    if (queue.exchange(0, acquire) == 0) return;
    RL_ASSERT(frees == 0);
    static_cast<void>(link.get());
    switch (token.take()) {
      case take_outcome::taken: return run();
      case take_outcome::stale: return;
      case take_outcome::orphan: return free();
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      run();
      claim();
    } else if (index == 1) {
      claim();
    } else {
      for (int i = 0; i < 3; ++i) pop();
    }
  }

  void after() {
    for (int i = 0; i < runs; ++i) pop();
    RL_ASSERT(handled == runs);
    RL_ASSERT(frees == 1);
  }
};

}  // namespace

TEST_CASE(
    "a runnable is run by one thread at a time, as often as it was offered, and is freed once") {
  CHECK(explore<token_suite>(thorough) == "");
}

TEST_CASE("the token needs each of its memory orders") {
  using enum token_order;
  const auto need = [](token_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<token_suite>(at, as_written, enough_to_fail));
  };
  need(looks, acquire);
  need(offer_looks, acquire);
  need(offer_again, release);
  need(offer_lost, acquire);
  need(offer, release);
  need(take, acq_rel);
  need(claim, acquire);
  need(retire_looks, acquire);
  need(retire, release);
  need(retire_lost, acquire);
}
