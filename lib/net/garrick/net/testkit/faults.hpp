// Faults of a network: as a schedule, or drawn from the seed.
//
//   net.at(duration::milliseconds(50), cut("a", "b"));
//   net.at(duration::milliseconds(90), heal("a", "b"));
//   plan_faults(net, {.hosts = {"a", "b"}, .cuts = 3, .pauses = 1});
//
// Thread safety: plain functions; faults act on their network's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/testkit/simulated_host.hpp"
#include "garrick/net/testkit/simulated_network.hpp"

namespace garrick::net::testkit {

/// Returns a fault that cuts both directions.
[[nodiscard]] fault cut(std::string a, std::string b);
/// Returns a fault that cuts a direction.
[[nodiscard]] fault cut_one_way(std::string from, std::string to);
/// Returns a fault that restores both directions.
[[nodiscard]] fault heal(std::string a, std::string b);
/// Returns a fault that cuts every way between the hosts of the two sides.
[[nodiscard]] fault partition(std::vector<std::string> side, std::vector<std::string> other);
/// Returns a fault that restores every way, resumes every host, and starts crashed hosts.
[[nodiscard]] fault heal_all();
/// Returns a fault that breaks each stream between the two hosts.
[[nodiscard]] fault reset_streams(std::string a, std::string b);
/// Returns a fault by which the host `at` alone loses each of its streams to the other host.
[[nodiscard]] fault half_open(std::string at, std::string other);
/// Returns a fault that stalls each stream between the two hosts, and tells no end; new streams are
/// carried.
[[nodiscard]] fault stall_streams(std::string a, std::string b);
/// Returns a fault that stops a host's process.
[[nodiscard]] fault pause(std::string host);
/// Returns a fault that resumes a stopped process.
[[nodiscard]] fault resume(std::string host);
/// Returns a fault that ends a host's process, or machine.
[[nodiscard]] fault crash(std::string host, crash_kind what = crash_kind::process);
/// Returns a fault that starts a crashed host again.
[[nodiscard]] fault restart(std::string host);
/// Returns a fault that sets a host's clock ahead. The fault may throw when it acts, as
/// `simulated_host::jump` may.
[[nodiscard]] fault jump(std::string host, base::duration by);
/// Returns a fault that makes a host's clock faster, or slower. The fault may throw when it acts,
/// as `simulated_host::set_rate` may.
[[nodiscard]] fault clock_rate(std::string host, std::int64_t ppm);
/// Returns a fault that gives both directions the settings `to`.
[[nodiscard]] fault change(std::string a, std::string b, path_settings to);

/// A plan by which faults are drawn. A weight is the frequency of a kind relative to the others; 0:
/// never.
struct fault_plan {
  std::vector<std::string> hosts{};  ///< the hosts to hit; at least two
  std::uint32_t cuts = 0;            ///< weight of ways that are cut in both directions
  std::uint32_t one_way_cuts = 0;    ///< weight of directions that are cut
  std::uint32_t resets = 0;          ///< weight of streams that break
  std::uint32_t half_opens = 0;      ///< weight of streams that are lost at one end alone
  std::uint32_t pauses = 0;          ///< weight of stopped processes
  std::uint32_t crashes = 0;         ///< weight of processes and machines that end and come back
  std::uint32_t jumps = 0;           ///< weight of clocks that go ahead
  std::uint32_t rates = 0;           ///< weight of clocks that get another rate, up to 200 ppm
  /// Weight of ways that take smaller datagrams from then on, 1200 bytes at least.
  std::uint32_t narrowings = 0;
  std::uint32_t stalls = 0;  ///< weight of streams that stall silently
  std::uint32_t storms = 0;  ///< weight of ways that lose a third and reorder a third
  base::duration from{};     ///< the first time for a fault, since the network's beginning
  base::duration until = base::duration::seconds(2);           ///< all is healed then
  base::duration between = base::duration::milliseconds(200);  ///< the average time between faults
  base::duration longest = base::duration::milliseconds(300);  ///< of a cut, pause, storm or crash
  base::duration longest_jump = base::duration::milliseconds(100);  ///< the largest jump of a clock
};

/// Draws faults from the network's seed, writes them into its schedule, and returns their number.
/// Cuts, pauses, crashes and storms end by themselves, at `until` at the latest. Throws
/// std::invalid_argument if the plan names fewer than two hosts, or if `between` is not above zero.
std::size_t plan_faults(simulated_network& net, const fault_plan& plan);

}  // namespace garrick::net::testkit
