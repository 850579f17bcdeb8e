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
// Layers and whole nodes run in it unchanged, since they get bytes and time and do no I/O.
// Who runs actors as well makes the network of a `testkit::test_world`: then the actors of several
// systems and the network share one virtual time.
//
// Invariants:
//   N1  Equal seeds and equal programs give equal histories. All that is drawn comes from the seed:
//       each direction of each way has its own source of numbers, so that what happens on one does
//       not change another.
//   N2  At an instant, what has arrived is received before any deadline or timer is called. What
//       waited for a paused host comes first when it goes on.
//   N3  A stream's bytes arrive in order, once, whole; or its ends are told that it broke, sooner
//       or later.
//   N4  Nobody is called from within what he calls: everything that comes, comes later.
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

/// Something that goes wrong, or is mended: faults.hpp makes them.
struct fault {
  std::string text;                             ///< what the history says
  std::function<void(simulated_network&)> act;  ///< what happens
};

/// Hosts and the ways between them. It must outlive its endpoints' use, but not them.
class simulated_network {
 public:
  /// With the seed that GARRICK_SEED holds, or 1. Throws std::invalid_argument if GARRICK_SEED
  /// holds no number.
  simulated_network() : simulated_network(garrick::testkit::seed_from_environment(1)) {}
  /// With this seed. A time of its own begins, a second after the clock's beginning.
  explicit simulated_network(std::uint64_t seed, const network_settings& s = {});
  /// In this world, with its seed and its time, which its test systems move. To be made after the
  /// world and before its systems.
  ///
  ///     test_world world(17);
  ///     simulated_network net(world);
  ///     test_system a(world, {.clock = &net.host("a").clock()});
  explicit simulated_network(const garrick::testkit::test_world& world,
                             const network_settings& s = {});
  /// Timers are dropped, programs destroyed; endpoints that are left do nothing any more.
  ~simulated_network();
  simulated_network(const simulated_network&) = delete;
  simulated_network& operator=(const simulated_network&) = delete;

  /// The seed that decides.
  [[nodiscard]] std::uint64_t seed() const noexcept;
  /// The time of no host, which all of them are measured by.
  [[nodiscard]] base::instant now() const noexcept;
  /// How long the network has been there.
  [[nodiscard]] base::duration elapsed() const noexcept;
  /// The host of this name, which is made when it is named first.
  simulated_host& host(std::string_view name);
  /// The way from one host to another, to be changed at any time: it is for what is sent from now
  /// on. A host's way to itself is one, too. What `path_settings` does not allow is refused when
  /// time passes next.
  path_settings& path(std::string_view from, std::string_view to);
  /// Sets both directions. Throws std::invalid_argument for what `path_settings` does not allow.
  void both(std::string_view a, std::string_view b, const path_settings& s);

  // ---- letting time pass ------------------------------------------------------------------------

  /// Lets `d` pass. Throws a `network_failure` if an instant never ends, std::invalid_argument if a
  /// path has settings that are not allowed, and std::logic_error if the network is of a world,
  /// whose systems move time.
  void run_for(base::duration d);
  /// Step by step until `done()` holds; false if it does not within `limit`. Throws as above.
  bool run_until(const std::function<bool()>& done,
                 base::duration limit = base::duration::seconds(3600));
  /// When something happens next; `never()`: nothing will.
  [[nodiscard]] base::instant next() const;

  // ---- faults -----------------------------------------------------------------------------------

  /// Does this now.
  void apply(const fault& what);
  /// Does this when the network has been there for so long; at once if it has.
  void at(base::duration elapsed, fault what);
  /// Nothing passes in this direction any more: datagrams on their way are lost, bytes of streams
  /// wait.
  void cut(std::string_view from, std::string_view to);
  /// It passes again.
  void heal(std::string_view from, std::string_view to);
  /// True if it is cut.
  [[nodiscard]] bool is_cut(std::string_view from, std::string_view to);
  /// Each stream between the two breaks: of the bytes on their way those up to some point still
  /// arrive, then the end is told.
  void reset_streams(std::string_view a, std::string_view b);
  /// Each stream between the two is lost at `at` alone. The other end does not know until it sends.
  void half_open(std::string_view at, std::string_view other);
  /// Each stream between the two carries nothing any more, and no end is told, as if what lies
  /// between them had forgotten the streams. New ones are carried.
  void stall_streams(std::string_view a, std::string_view b);
  /// Every way is whole, every host runs.
  void heal_all();

  // ---- what has happened ------------------------------------------------------------------------

  /// Throws a `network_failure` with `text`, the seed and the history unless `holds`.
  void require(bool holds, const std::string& text,
               std::source_location where = std::source_location::current());
  /// Writes a line into the history.
  void note(std::string text);
  /// The events so far.
  [[nodiscard]] const network_history& history() const noexcept;
  /// A source of random numbers for the program itself; one for each name, from the seed.
  [[nodiscard]] std::uint64_t seed_for(std::string_view name) const noexcept;

 private:
  std::unique_ptr<internal::engine> engine_;
  std::vector<std::unique_ptr<simulated_host>> hosts_;
};

}  // namespace garrick::net::testkit
