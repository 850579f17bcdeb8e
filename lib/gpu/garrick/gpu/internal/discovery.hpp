// Which devices there are, and what their drivers say of them.
//
// Thread safety: plain functions, which wait for drivers.
#pragma once

#include <garrick/gpu/device.hpp>

#include <string>
#include <vector>

#include "garrick/gpu/internal/opencl.hpp"

namespace garrick::gpu::internal {

/// A device as a driver offers it.
struct found_device {
  cl_device_id id = nullptr;
  device_info info;
};

/// All devices that compile sources, in the order that `runtime::devices` promises. What cannot be
/// used is told in `refused`.
[[nodiscard]] std::vector<found_device> find_devices(std::vector<std::string>& refused);

}  // namespace garrick::gpu::internal
