// The list of shipped scheduling policies. This is the one place where a policy is registered: the
// names of shipped_policies.hpp, the settings and their help, and the simulated machine are made
// from it.
//
// To ship another policy, write the class that policy.hpp describes, and add its line below.
//
// Including this file compiles every policy. Code that needs only names includes
// shipped_policies.hpp.
//
// Thread safety: constants only.
#pragma once

#include <garrick/base/settings/setting_table.hpp>
#include <garrick/sched/policies/comparison/polling.hpp>
#include <garrick/sched/policies/locality_guided.hpp>
#include <garrick/sched/policies/policy.hpp>
#include <garrick/sched/policies/work_sharing.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

#include <cstdint>
#include <string_view>
#include <tuple>

namespace garrick::sched {

/// The builds that contain a policy. The minimal build (GARRICK_MINIMAL) has no topology library,
/// and is kept small.
enum class policy_builds : std::uint8_t {
  every,            ///< the minimal build, too
  all_but_minimal,  ///< the minimal build refuses its name
};

/// A line of the list: the policy's class, the builds that contain it, and its purpose.
template <class Policy, policy_builds Builds>
struct policy_line {
  using policy = Policy;                           ///< its class
  static constexpr policy_builds builds = Builds;  ///< the builds that contain it
  std::string_view summary;                        ///< one line, for help texts
};

/// Returns every shipped policy, made of `Traits`, as a tuple of `policy_line`; the default comes
/// first.
template <class Traits = real_traits>
constexpr auto shipped_policy_list() noexcept {
  using enum policy_builds;
  return std::tuple{
      policy_line<work_stealing<Traits>, every>{base::note(
          "each worker has queues of its own, and one without work steals from the others")},
      policy_line<locality_guided<Traits>, all_but_minimal>{base::note(
          "work_stealing that keeps actors near their memory, for machines with several nodes")},
      policy_line<work_sharing<Traits>, all_but_minimal>{
          base::note("one queue for all workers, first in, first out; for few workers")},
      policy_line<polling_default<Traits>, all_but_minimal>{
          base::note("idle workers look again and again, in the end every 10 ms; to compare with")},
      policy_line<polling_custom<Traits>, all_but_minimal>{
          base::note("idle workers look again and again, in the end every 1 us; to compare with")},
      policy_line<polling_aggressive<Traits>, all_but_minimal>{
          base::note("idle workers never rest; for a processor set aside for each worker")},
      policy_line<polling_new<Traits>, all_but_minimal>{
          base::note("idle workers look again and again, and in the end wait 200 us for an event; "
                     "to compare with")},
  };
}

}  // namespace garrick::sched
