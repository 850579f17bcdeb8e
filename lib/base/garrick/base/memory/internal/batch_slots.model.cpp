// Lists of free blocks that change hands, under the model checker: none is lost or taken twice, and
// the earlier uses of the blocks are visible to the thread that takes them.
#include <garrick/base/memory/internal/batch_slots.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::block_pool::detail;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;

struct batch {
  relacy_atomics::cell<int> content{0};
};

/// Three threads, each with a batch of its own, put and take by turns, with room for two. A thread
/// that has a batch uses its blocks.
struct hand_over_suite : rl::test_suite<hand_over_suite, 3> {
  batch_slots<batch, 2, relacy_atomics> slots;
  std::array<batch, 3> batches;
  std::array<std::array<batch*, 2>, 3> kept{};

  static void use(batch& b) { b.content.set(b.content.get() + 1); }
  void thread(unsigned index) {
    batch* mine = &batches[index];
    for (std::size_t round = 0; round < 2; ++round) {
      use(*mine);
      if (slots.put(mine)) mine = slots.take();
      kept[index] = {mine, nullptr};
      if (mine == nullptr) return;
    }
    kept[index][1] = slots.take();
  }
  void after() {
    std::array<int, 3> times{};
    const auto see = [&](batch* b) {
      if (b != nullptr) use(*b), ++times[static_cast<std::size_t>(b - batches.data())];
    };
    const std::size_t count = slots.count();
    for (std::size_t i = 0; i < count; ++i) see(slots.take());
    RL_ASSERT(slots.count() == 0 && slots.take() == nullptr);
    for (auto& of_one : kept)
      for (batch* b : of_one) see(b);
    for (const int n : times) RL_ASSERT(n == 1);
  }
};

}  // namespace

TEST_CASE("no list of blocks is lost or taken twice, and each is taken with its blocks' contents") {
  CHECK(explore<hand_over_suite>(thorough) == "");
}
TEST_CASE("the slots need each of their memory orders") {
  CHECK(needs<hand_over_suite>(slots_order::put, release, enough_to_fail));
  CHECK(needs<hand_over_suite>(slots_order::take, acquire, enough_to_fail));
}
