// The shares of a container under the model checker, as they are and with a memory order weakened.
#include <garrick/patterns/team/shares.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::model;
using namespace garrick::patterns::detail;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 100'000;

constexpr std::size_t threads = 3;
constexpr std::size_t elements = 4;

enum class way { by_hand, several_by_hand, in_order };

[[nodiscard]] cut cut_for(way w) {
  if (w == way::by_hand) return cut::evenly(elements, 3, true);
  return w == way::several_by_hand ? cut::for_hands(elements, 2, 2) : cut::by_length(elements, 3);
}

/// Three threads claim pieces of a container, and write into each element. The thread that finishes
/// the last one reads them all.
template <way Way>
struct shares_suite : rl::test_suite<shares_suite<Way>, threads> {
  basic_shares<relacy_atomics> shares{cut_for(Way)};
  std::array<relacy_atomics::cell<int>, elements> container{
      relacy_atomics::cell<int>(0), relacy_atomics::cell<int>(0), relacy_atomics::cell<int>(0),
      relacy_atomics::cell<int>(0)};
  // for the checks; the model checker does not follow it
  int ends = 0;

  void thread(unsigned index) {
    piece p;
    while (shares.claim(index, p, 2)) {
      for (std::size_t i = p.begin; i < p.end; ++i) container[i].set(container[i].get() + 1);
      if (!shares.finish(p.end - p.begin)) continue;
      for (const auto& element : container) RL_ASSERT(element.get() == 1);
      ++ends;
    }
  }
  void after() { RL_ASSERT(ends == 1); }
};

}  // namespace

TEST_CASE("each piece is claimed once, and the thread that finishes the last sees them all") {
  CHECK(explore<shares_suite<way::in_order>>(thorough) == "");
  CHECK(explore<shares_suite<way::by_hand>>(thorough) == "");
  CHECK(explore<shares_suite<way::several_by_hand>>(thorough) == "");
}
TEST_CASE("the shares need their memory order") {
  CHECK(needs<shares_suite<way::in_order>>(shares_order::finish, acq_rel, enough_to_fail));
  CHECK(needs<shares_suite<way::by_hand>>(shares_order::finish, acq_rel, enough_to_fail));
}
