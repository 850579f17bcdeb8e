// The lanes of the system and of the layers, which have limits of their own.
//
// Thread safety: a function.
#pragma once

#include "garrick/net/layer/layer.hpp"

namespace garrick::net::internal {

/// Returns true for a lane that ordinary messages neither delay nor fill.
[[nodiscard]] constexpr bool is_reserved(lane_number lane) noexcept {
  return lane == system_lane || lane == layer_lane;
}

}  // namespace garrick::net::internal
