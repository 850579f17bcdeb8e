// The devices of this machine, and their drivers' descriptions.
//
// Thread safety: plain functions, which wait for drivers.
#pragma once

#include <garrick/gpu/device.hpp>

#include <string>
#include <vector>

#include "garrick/gpu/internal/opencl.hpp"

namespace garrick::gpu::internal {

/// A device that a driver offers.
struct found_device {
  cl_device_id id = nullptr;
  device_info info;
};

/// Returns all devices that compile sources, in the order that `runtime::devices` promises. Adds
/// unusable devices and drivers to `refused`.
[[nodiscard]] std::vector<found_device> find_devices(std::vector<std::string>& refused);

}  // namespace garrick::gpu::internal
