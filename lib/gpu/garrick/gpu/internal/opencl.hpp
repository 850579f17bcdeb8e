// The only header that includes OpenCL: its C interface, version 1.2, which drivers support.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <garrick/base/values/error.hpp>
#include <garrick/gpu/error.hpp>

#include <string_view>

namespace garrick::gpu::internal {

/// Returns the name of a code, such as "CL_OUT_OF_RESOURCES"; "an unknown error" if it has none.
/// `driver_error` adds the number of the code.
[[nodiscard]] std::string_view name_of(cl_int code) noexcept;
/// Returns true if this code means that the device is lost.
[[nodiscard]] bool means_lost(cl_int code) noexcept;
/// Returns an error for a failed call of the driver, with the place, the called function and its
/// code.
[[nodiscard]] base::error driver_error(std::string_view where, std::string_view called,
                                       cl_int code);

}  // namespace garrick::gpu::internal
