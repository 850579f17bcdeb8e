// The sleepers outside the model checker: a wait that depends on the processors, and calls in a
// fixed order.
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/sched/parking/sleepers.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

namespace sleepers_test {

using namespace garrick;
using namespace garrick::sched;

namespace {

/// Atomics of a machine on which a parked worker's bit arrives only while the thread that looks for
/// the bit sleeps.
struct late_bits : base::real_atomics {
  static inline bool arrived = false;
  static inline std::uint32_t pauses = 0;

  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    T load(std::memory_order order) const noexcept {
      const T value = std::atomic<T>::load(order);
      return sizeof(T) == sizeof(std::uint64_t) && !arrived ? T{} : value;
    }
  };
  static void pause() noexcept {
    if (++pauses > 1'000'000) std::abort();  // it would go on like this
  }
  static bool wait_for(atomic<std::uint32_t>&, std::uint32_t, std::uint64_t) noexcept {
    arrived = true;
    return false;
  }
};

}  // namespace

TEST_CASE("a thread that wakes a worker sleeps rather than spin for a bit that does not come") {
  sleepers<late_bits, base::parker> two(2);
  two.prepare_park(1, false);
  late_bits::arrived = false;
  two.announce();
  CHECK(late_bits::arrived);
  CHECK_FALSE(two.looks_parked(1));
  two.park(1);  // there is a token
}

TEST_CASE("another worker is woken although one searches, as long as one is parked") {
  sleepers<base::real_atomics, base::parker> four(4);
  for (const std::uint32_t i : {0U, 1U, 3U}) four.prepare_park(i, false);
  four.announce(0);  // wakes that worker, which now counts as searching
  CHECK_FALSE(four.looks_parked(0));
  four.announce(1);
  CHECK(four.looks_parked(1));
  CHECK(four.wake_another());
  CHECK(four.wake_another());
  CHECK_FALSE(four.wake_another());
  CHECK(four.describe() == "searching 3, parked 0");
  for (const std::uint32_t i : {0U, 1U, 3U}) four.park(i);  // each has a token
  for (int i = 0; i < 3; ++i) four.end_search([] { return false; });
  CHECK(four.describe() == "searching 0, parked 0");
}

namespace {

struct interruptions final : base::interruptible {
  void interrupt() noexcept override { ++number; }
  int number = 0;
};

}  // namespace

TEST_CASE("a worker that waits elsewhere is woken there, or wakes itself") {
  interruptions seen;
  sleepers<base::real_atomics, base::parker> three(3, &seen);
  for (const std::uint32_t i : {0U, 1U}) three.prepare_park(i, false);
  REQUIRE(three.begin_elsewhere(1));
  three.announce(1);
  CHECK(seen.number == 1);
  CHECK(three.end_elsewhere(1));
  CHECK(three.describe() == "searching 1, parked 1");
  three.end_search([] { return false; });
  // This time no other thread wakes the worker.
  three.prepare_park(1, false);
  REQUIRE(three.begin_elsewhere(1));
  three.come_back(1);
  CHECK_FALSE(three.looks_parked(1));
  CHECK(three.looks_parked(0));
  CHECK(three.describe() == "searching 1, parked 1");
  CHECK(seen.number == 1);
}

TEST_CASE("a worker that waits elsewhere is woken last, unless it is asked for") {
  interruptions seen;
  sleepers<base::real_atomics, base::parker> three(3, &seen);
  for (const std::uint32_t i : {0U, 2U}) three.prepare_park(i, false);
  REQUIRE(three.begin_elsewhere(0));
  CHECK(three.some_parked() == 2);
  three.announce();
  CHECK(three.looks_parked(0));
  CHECK(three.some_parked() == 0);
  three.end_search([] { return false; });
  three.announce();
  CHECK(seen.number == 1);
  CHECK(three.some_parked() == three.nobody);
  CHECK(three.end_elsewhere(0));
}

TEST_CASE("a worker that wakes itself while another thread wakes it counts once") {
  interruptions seen;
  sleepers<base::real_atomics, base::parker> three(3, &seen);
  for (const std::uint32_t i : {0U, 1U}) three.prepare_park(i, false);
  REQUIRE(three.begin_elsewhere(1));
  three.announce(1);  // its bit is gone, and its token is there
  three.come_back(1);
  CHECK(three.describe() == "searching 1, parked 1");
  CHECK(three.looks_parked(0));
}

}  // namespace sleepers_test
