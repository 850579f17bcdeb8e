// The common part of the programs over two simulated hosts: "a" connects to "b", opens another link
// when one is down, and both act now and then. Hosts crash and live again.
//
// Thread safety: its network's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/random.hpp"
#include "garrick/net/testkit/endpoint.hpp"
#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/testkit/simulated_host.hpp"
#include "garrick/net/testkit/simulated_network.hpp"

namespace garrick::net::testkit::internal {

/// An end of a link, in a program.
class program_session {
 public:
  virtual ~program_session() = default;
  /// Called once, after it was made.
  virtual void begin() = 0;
  /// Returns true if the link is down and must be replaced.
  [[nodiscard]] virtual bool is_down() const = 0;
};

/// The state that outlives the hosts' crashes.
class two_host_program {
 public:
  /// Uses a seed of its own for the random choices. `same_life`: all links of a host until its
  /// crash belong to one incarnation.
  two_host_program(simulated_network& n, std::string_view name, bool same_life = false)
      : random(n.seed_for(name)), has_one_life(same_life) {}
  virtual ~two_host_program() = default;

  /// Makes the end of a link.
  [[nodiscard]] virtual std::shared_ptr<program_session> make(simulated_host& h,
                                                              std::unique_ptr<endpoint> e,
                                                              bool connects) = 0;
  /// Returns the time that a host waits until it acts again.
  [[nodiscard]] virtual base::duration pause(bool connects) = 0;
  /// Lets a host act by one of its links, each of them in turn, the newest last.
  virtual void act(program_session& by, bool newest, bool connects) = 0;

  /// Returns a duration from a nanosecond to `most`.
  [[nodiscard]] base::duration up_to(base::duration most) {
    return base::duration::nanoseconds(
        1 + static_cast<std::int64_t>(random.unit() * static_cast<double>(most.count())));
  }
  base::random_source random;  ///< the source of all its random choices
  const bool has_one_life;
};

/// Lets the hosts run the program from now on, with faults between them.
void begin_on_two_hosts(simulated_network& net, const std::shared_ptr<two_host_program>& program,
                        bool streams, const path_settings& path, fault_plan faults);
/// Ends the program on the hosts, and forgets it.
void end_on_two_hosts(simulated_network& net);

}  // namespace garrick::net::testkit::internal
