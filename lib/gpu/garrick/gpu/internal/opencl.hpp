// The one place that includes OpenCL: its C interface, version 1.2, as drivers have it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <garrick/base/values/error.hpp>
#include <garrick/gpu/error.hpp>

#include <string_view>

namespace garrick::gpu::internal {

/// "CL_OUT_OF_RESOURCES"; "an unknown error" with its number is made of others by `driver_error`.
[[nodiscard]] std::string_view name_of(cl_int code) noexcept;
/// Returns true if this code means that the device will do nothing any more.
[[nodiscard]] bool means_lost(cl_int code) noexcept;
/// Returns a failed call of the driver as an error for the program: where, the function, its code.
[[nodiscard]] base::error driver_error(std::string_view where, std::string_view called,
                                       cl_int code);

}  // namespace garrick::gpu::internal
