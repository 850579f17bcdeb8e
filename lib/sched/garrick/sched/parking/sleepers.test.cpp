// What the model checker cannot show of the sleepers: waits that depend on who gets a processor.
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/sched/parking/sleepers.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

using namespace garrick;
using namespace garrick::sched;

namespace {

/// Atomics of a machine on which a parked worker's bit arrives only when the thread that looks for
/// it sleeps.
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

TEST_CASE("who wakes a worker sleeps rather than spin for a bit that does not come") {
  sleepers<late_bits, base::parker> two(2);
  two.prepare_park(1, false);
  late_bits::arrived = false;
  two.announce();
  CHECK(late_bits::arrived);
  CHECK_FALSE(two.looks_parked(1));
  two.park(1);  // there is a token
}
