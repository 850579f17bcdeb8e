// The common state of the deterministic systems of one test: the seed's random source and the list
// of runnable actors, virtual time, the numbers of actors, and the history.
//
// Problem: a protocol between several systems (nodes, say) must be tested in many orders, so one
// seed must decide the order of turns in all of them. A test of one system has a world with one
// system.
//
// The environment of an ended system stays in memory as long as its world: a timer or a message of
// another system may still reach it.
//
// Thread safety: only the holder of the baton (baton.hpp): the thread that made the world or the
// thread of a detached or blocking actor.
#pragma once

#include <garrick/base/time/virtual_clock.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/testkit/internal/deterministic_scheduler.hpp>
#include <garrick/testkit/internal/history.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace garrick::testkit::internal {

class deterministic_world {
 public:
  explicit deterministic_world(std::uint64_t seed);
  /// Drops the timers, and releases the systems.
  ~deterministic_world();
  deterministic_world(const deterministic_world&) = delete;
  deterministic_world& operator=(const deterministic_world&) = delete;

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] deterministic_scheduler& scheduler() noexcept { return scheduler_; }
  [[nodiscard]] base::virtual_clock& time() noexcept { return *clock_; }
  [[nodiscard]] history& past() noexcept { return past_; }
  [[nodiscard]] const history& past() const noexcept { return past_; }

  /// Adds a system to this world, which holds it to the world's end. While a system of the world
  /// lives, actors that this thread spawns are numbered by the world.
  void enter(core::environment& system);
  /// Notes that a system has ended.
  void leave() noexcept;
  /// Returns all systems that were ever in this world.
  [[nodiscard]] const std::vector<core::environment*>& systems() const noexcept { return systems_; }

 private:
  const std::uint64_t seed_;
  std::unique_ptr<base::virtual_clock> clock_;
  history past_;
  deterministic_scheduler scheduler_;
  std::vector<core::environment*> systems_;  ///< all systems that ever were in it, held
  std::uint32_t alive_ = 0;
  std::uint64_t saved_next_id_ = 0;
  std::uint64_t saved_last_id_ = 0;
};

}  // namespace garrick::testkit::internal
