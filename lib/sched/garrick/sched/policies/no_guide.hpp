// work_stealing asks a guide where a runnable goes and whom a thief asks. This is the guide that
// knows nothing, so that the policy asks it as little as possible; locality_guided.hpp has the
// other.
//
// Thread safety: constants only.
#pragma once

#include <garrick/sched/policies/policy.hpp>

#include <cstdint>
#include <string_view>

namespace garrick::sched {

/// The guide of a policy that knows no places.
struct no_guide {
  static constexpr bool active = false;                      ///< whether anybody asks it
  static constexpr std::string_view name = "work_stealing";  ///< of the policy with this guide
  /// Needs nothing.
  explicit no_guide(const policy_options&) noexcept {}
  /// Everybody is near.
  static constexpr bool are_neighbours(std::uint32_t, std::uint32_t) noexcept { return true; }
};

}  // namespace garrick::sched
