// The run right under the model checker, as it is and with each of its memory orders weakened.
#include <garrick/patterns/node/run_right.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::model;
using namespace garrick::patterns::detail;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 100'000;

/// Three threads leave something for the node, each in a place of its own, and ask. The thread that
/// gets the run right runs the node until it may give the right up.
struct right_suite : rl::test_suite<right_suite, 3> {
  static constexpr std::size_t askers = 3;

  basic_run_right<relacy_atomics> right;
  relacy_atomics::cell<int> node{0};  ///< for the holder of the run right
  std::array<relacy_atomics::atomic<int>, askers> left_for_it{0, 0, 0};
  // for the checks; the model checker does not follow these
  int holders = 0;
  int handled = 0;

  void run() {
    RL_ASSERT(++holders == 1);
    node.set(node.get() + 1);  // before the first look, too
    do {
      right.look();
      node.set(node.get() + 1);
      for (auto& place : left_for_it)
        if (place.load(relaxed) == 1) {
          place.store(2, relaxed);
          ++handled;
        }
      --holders;  // another thread may have it as soon as it is given up
    } while (!right.release() && ++holders == 1);
  }
  void thread(unsigned index) {
    left_for_it[index].store(1, relaxed);
    if (right.ask()) run();
  }
  void after() {
    RL_ASSERT(!right.is_held());
    RL_ASSERT(handled == static_cast<int>(askers));
  }
};

}  // namespace

TEST_CASE("a node is run by one thread at a time, which sees all writes before each ask") {
  CHECK(explore<right_suite>(thorough) == "");
}
TEST_CASE("the run right needs each of its memory orders") {
  const auto need = [](run_right_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<right_suite>(at, as_written, enough_to_fail));
  };
  need(run_right_order::ask, acq_rel);
  need(run_right_order::look, acquire);
  need(run_right_order::release, release);
}
