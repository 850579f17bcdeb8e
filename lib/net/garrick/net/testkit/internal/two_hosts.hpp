// What the programs over two simulated hosts have in common: "a" connects to "b", opens another
// link when one is down, and both do something now and then. Hosts crash and live again.
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
  /// Once, after it was made.
  virtual void begin() = 0;
  /// It is replaced then.
  [[nodiscard]] virtual bool is_down() const = 0;
};

/// What outlives the hosts' crashes.
class two_host_program {
 public:
  /// Draws from a seed of its own. `same_life`: until a host crashes, all its links are of one life
  /// of it.
  two_host_program(simulated_network& n, std::string_view name, bool same_life = false)
      : random(n.seed_for(name)), has_one_life(same_life) {}
  virtual ~two_host_program() = default;

  /// Makes the end of a link.
  [[nodiscard]] virtual std::shared_ptr<program_session> make(simulated_host& h,
                                                              std::unique_ptr<endpoint> e,
                                                              bool connects) = 0;
  /// How long a host waits until it acts again.
  [[nodiscard]] virtual base::duration pause(bool connects) = 0;
  /// A host acts by one of its links, each of them in turn, the newest last.
  virtual void act(program_session& by, bool newest, bool connects) = 0;

  /// At least a nanosecond, and up to so much.
  [[nodiscard]] base::duration up_to(base::duration most) {
    return base::duration::nanoseconds(
        1 + static_cast<std::int64_t>(random.unit() * static_cast<double>(most.count())));
  }
  base::random_source random;  ///< all that it draws
  const bool has_one_life;
};

/// The hosts run the program from now on, and things go wrong between them.
void begin_on_two_hosts(simulated_network& net, const std::shared_ptr<two_host_program>& program,
                        bool streams, const path_settings& path, fault_plan faults);
/// They do not any more, and forget the program.
void end_on_two_hosts(simulated_network& net);

}  // namespace garrick::net::testkit::internal
