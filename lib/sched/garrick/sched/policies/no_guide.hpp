// work_stealing asks a guide for a runnable's place and a thief's victims. This is the guide that
// does not know places, so that the policy asks it as little as possible; the other guide is in
// locality_guided.hpp.
//
// Thread safety: constants only.
#pragma once

#include <garrick/sched/policies/policy.hpp>

#include <cstdint>
#include <string_view>

namespace garrick::sched {

/// The guide of a policy that does not know places.
struct no_guide {
  static constexpr bool active = false;                      ///< true if the policy asks it
  static constexpr std::string_view name = "work_stealing";  ///< of the policy with this guide
  /// Needs nothing.
  explicit no_guide(const policy_options&) noexcept {}
  /// Returns true: all workers are near.
  static constexpr bool are_neighbours(std::uint32_t, std::uint32_t) noexcept { return true; }
};

}  // namespace garrick::sched
