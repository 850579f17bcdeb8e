// After a burst the memory goes back to the operating system: while the system lives, by its clock,
// and at its end.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <thread>
#include <vector>

#include <garrick/base/memory/block_pool.hpp>

#include "support/in_child.hpp"
#include "support/resident_bytes.hpp"

namespace memory_after_a_burst_test {

namespace {

using namespace garrick;
namespace pool = base::block_pool;
using tests::resident_bytes;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t burst = 48 * mib;

class idler : public actor<protocol<void(int)>> {
 public:
  void on(int) {}
};

/// A burst of actors, each a block of 192 bytes; all of them are gone when this returns.
std::size_t have_a_burst(actor_system& system) {
  std::vector<ref<protocol<void(int)>>> all;
  for (std::size_t sum = 0; sum < burst; sum += 192) all.push_back(system.spawn<idler>());
  const std::size_t peak = resident_bytes();
  all.clear();
  all.shrink_to_fit();
  static_cast<void>(system.await_all());
  return peak;
}

/// Checks that the operating system has half of the burst back. A sanitizer's notes of each address
/// stay.
void check_gave_back(std::size_t peak) {
  if (!HAS_SANITIZER) CHECK(resident_bytes() <= peak - burst / 2);
}

settings keeping(std::uint32_t keep) {
  settings o;
  o.scheduler.workers = 2;
  o.memory.keep = keep;
  return o;
}

/// Returns the bytes held when nothing is kept: those that other tests have left in use.
std::size_t held_without_bursts() {
  actor_system(keeping(0));
  return pool::held_bytes();
}

}  // namespace

TEST_CASE("after a burst a living system gives memory back, down to the part that is to be kept") {
  if (GARRICK_POOL_IS_NEW) return;
  const std::size_t before = held_without_bursts();
  actor_system system(keeping(4));
  const std::size_t peak = have_a_burst(system);
  while (pool::held_bytes() > before + 16 * mib) std::this_thread::yield();
  check_gave_back(peak);
}

TEST_CASE("the end of a system gives memory back at once, down to the part that is to be kept") {
  if (GARRICK_POOL_IS_NEW) return;
  const std::size_t before = held_without_bursts();
  std::size_t peak = 0;
  {
    actor_system system(keeping(4));
    peak = have_a_burst(system);
  }
  CHECK(pool::held_bytes() <= before + 16 * mib);
  check_gave_back(peak);
}

TEST_CASE("memory that is to be kept is kept") {
  if (GARRICK_POOL_IS_NEW) return;
  const std::size_t before = held_without_bursts();
  {
    actor_system system(keeping(1024));
    have_a_burst(system);
  }
  CHECK(pool::held_bytes() >= before + burst * 9 / 10);
  CHECK(held_without_bursts() <= before + 16 * mib);
}

}  // namespace memory_after_a_burst_test
