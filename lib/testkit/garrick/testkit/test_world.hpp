// A world shared by several test systems, so that one seed decides the order of all of them: nodes
// that talk to each other, a server and its clients.
//
//   testkit::test_world world(17);
//   testkit::test_system bank(world), shop(world);
//   const auto account = bank.spawn<account_actor>();
//   shop.spawn<till>(account);
//   shop.run();   // the actors of both systems
//
// Thread safety: only the thread that made the world.
#pragma once

#include <garrick/base/time/virtual_clock.hpp>
#include <garrick/testkit/failure.hpp>

#include <cstdint>
#include <memory>

namespace garrick::testkit {

namespace internal {
class deterministic_world;
}

/// A seed, a virtual time and a list of runnable actors that several test systems share. Copies
/// refer to the same world, which lives until the last copy and the last of its systems are gone.
///
/// A function that runs one system (`run`, `run_for`, `step`, a wait) runs all systems of its
/// world. All actors of a world are numbered in one sequence. Each system has its own names and
/// groups, dead letters, failures and settings. It also ends on its own: its actors are then gone,
/// like those of a node that was shut down.
///
///     test_world world(17);
///     test_system a(world), b(world);
class test_world {
 public:
  /// Makes a world with the seed in GARRICK_SEED, or 1. Throws std::invalid_argument if
  /// GARRICK_SEED holds no number.
  test_world() : test_world(seed_from_environment(1)) {}
  /// Makes a world with this seed.
  explicit test_world(std::uint64_t seed);

  /// Returns the seed that decides the order of everything in this world.
  [[nodiscard]] std::uint64_t seed() const noexcept;
  /// Returns the virtual clock of this world, for timers of participants that are not actors, such
  /// as a simulated network. The systems of the world advance it. It lives as long as the world.
  [[nodiscard]] base::virtual_clock& time() const noexcept;

 private:
  friend class test_system;
  std::shared_ptr<internal::deterministic_world> world_;
};

}  // namespace garrick::testkit
