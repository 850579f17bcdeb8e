// A network in one thread, in virtual time, from a seed: hosts with clocks of their own, ways that
// delay, lose, duplicate and reorder, streams that are cut into pieces anywhere, partitions,
// pauses, crashes.
//
//   simulated_network net(17);
//   net.both("a", "b", {.delay = duration::milliseconds(10), .loss = 0.05});
//   auto socket = net.host("a").datagrams(1, {"b", 7});
//   udp_stack stack(owner, *socket, …);
//   socket->drive(stack);
//   net.at(duration::milliseconds(50), cut("a", "b"));
//   net.run_for(duration::seconds(1));
//
// Layers and whole nodes run in it unchanged, since they get bytes and time and do no I/O. To run
// actors, too, make the network of a `testkit::test_world`: then the actors of several systems and
// the network share one virtual time.
//
// Invariants:
//   N1  Equal seeds and equal programs give equal histories. All random numbers come from the seed:
//       each direction of each way has its own source, so events on one do not change another.
//   N2  At a given instant, arrived bytes are received before any deadline or timer is called. A
//       host that is resumed first gets the bytes that waited for it.
//   N3  A stream's bytes arrive in order, once, whole; or its ends are told that it broke, sooner
//       or later.
//   N4  No stack is called from within its own calls: all events come later.
//
// Thread safety: the thread that made it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/testkit/history.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/testkit/simulated_host.hpp"
#include "garrick/testkit/test_world.hpp"

namespace garrick::net::testkit {

namespace internal {
class engine;
}
class simulated_network;

/// A fault, or its repair: faults.hpp makes them.
struct fault {
  std::string text;                             ///< the text for the history
  std::function<void(simulated_network&)> act;  ///< the effect
};

/// Hosts and the ways between them. Endpoints may outlive the network if they are used no more.
class simulated_network {
 public:
  /// Takes the seed from GARRICK_SEED, or 1. Throws std::invalid_argument if GARRICK_SEED holds no
  /// number.
  simulated_network() : simulated_network(garrick::testkit::seed_from_environment(1)) {}
  /// Takes this seed. Starts a time of its own, a second after the clock's beginning.
  explicit simulated_network(std::uint64_t seed, const network_settings& s = {});
  /// Joins this world, with its seed and its time, which its test systems move. Make the network
  /// after the world and before its systems.
  ///
  ///     test_world world(17);
  ///     simulated_network net(world);
  ///     test_system a(world, {.clock = &net.host("a").clock()});
  explicit simulated_network(const garrick::testkit::test_world& world,
                             const network_settings& s = {});
  /// Drops timers and destroys programs; the remaining endpoints do nothing any more.
  ~simulated_network();
  simulated_network(const simulated_network&) = delete;
  simulated_network& operator=(const simulated_network&) = delete;

  /// Returns the seed.
  [[nodiscard]] std::uint64_t seed() const noexcept;
  /// Returns the time by which all hosts' clocks are measured.
  [[nodiscard]] base::instant now() const noexcept;
  /// Returns the time since the network was made.
  [[nodiscard]] base::duration elapsed() const noexcept;
  /// Returns the host of this name, and makes it at the first call.
  simulated_host& host(std::string_view name);
  /// Returns the settings of the way from one host to another. Changes act on everything that is
  /// sent from then on. A host has a way to itself, too. Settings that `path_settings` forbids are
  /// refused when time passes next.
  path_settings& path(std::string_view from, std::string_view to);
  /// Sets both directions. Throws std::invalid_argument for settings that `path_settings` forbids.
  void both(std::string_view a, std::string_view b, const path_settings& s);

  // ---- letting time pass ------------------------------------------------------------------------

  /// Lets `d` pass. Throws a `network_failure` if an instant never ends, std::invalid_argument if a
  /// path has settings that are not allowed, and std::logic_error if the network belongs to a
  /// world, in which the test systems move time.
  void run_for(base::duration d);
  /// Lets time pass step by step until `done()` holds; returns false if it does not within `limit`.
  /// Throws as above.
  bool run_until(const std::function<bool()>& done,
                 base::duration limit = base::duration::seconds(3600));
  /// Returns the time of the next event, or `never()`.
  [[nodiscard]] base::instant next() const;

  // ---- faults -----------------------------------------------------------------------------------

  /// Applies a fault now.
  void apply(const fault& what);
  /// Applies a fault when the network has existed for `elapsed`; at once if that time has passed.
  void at(base::duration elapsed, fault what);
  /// Cuts this direction: datagrams on their way are lost, bytes of streams wait.
  void cut(std::string_view from, std::string_view to);
  /// Restores this direction.
  void heal(std::string_view from, std::string_view to);
  /// Returns true if this direction is cut.
  [[nodiscard]] bool is_cut(std::string_view from, std::string_view to);
  /// Breaks each stream between the two hosts: bytes on their way still arrive up to some point,
  /// then the end is told.
  void reset_streams(std::string_view a, std::string_view b);
  /// Lets the host `at` alone lose each of its streams to `other`. The other end notices only when
  /// it sends.
  void half_open(std::string_view at, std::string_view other);
  /// Stalls each stream between the two hosts, and tells no end, as if a router had forgotten the
  /// streams. New streams are carried.
  void stall_streams(std::string_view a, std::string_view b);
  /// Restores every way, resumes every host, and starts the crashed ones.
  void heal_all();

  // ---- the history ------------------------------------------------------------------------------

  /// Throws a `network_failure` with `text`, the seed and the history unless `holds`.
  void require(bool holds, const std::string& text,
               std::source_location where = std::source_location::current());
  /// Writes a line into the history.
  void note(std::string text);
  /// Returns the events so far.
  [[nodiscard]] const network_history& history() const noexcept;
  /// Returns a seed for the program's own random numbers; another for each name.
  [[nodiscard]] std::uint64_t seed_for(std::string_view name) const noexcept;

 private:
  std::unique_ptr<internal::engine> engine_;
  std::vector<std::unique_ptr<simulated_host>> hosts_;
};

}  // namespace garrick::net::testkit
