// The errors of requests to devices.
//
// Thread safety: constants.
#pragma once

#include <garrick/base/values/error.hpp>

#include <cstdint>

namespace garrick::gpu {

/// Errors of devices, programs and kernels. The texts name the kernel and the device, if any.
///
///     const result<gpu::program> made = gpu::build(system, source, {.on = gpus.find()}).get();
///     if (!made && made.error() == gpu::gpu_errc::build_failed)
///       std::puts(made.error().to_string().c_str());
enum class gpu_errc : std::uint32_t {
  no_device = 1,     ///< no device fits the request
  device_lost,       ///< the driver has reported the device as lost; no kernel can run on it
  build_failed,      ///< the compilation failed; the text contains the compiler's log
  kernel_not_found,  ///< the program has no kernel of this name; the text lists its kernels
  wrong_arguments,   ///< the kernel's parameters do not match the signature
  wrong_size,        ///< a container has not the number of elements that the kernel needs
  empty_argument,    ///< a container, an output or a local argument without elements
  bad_range,         ///< a range that the device cannot run
  out_of_memory,     ///< the device's budget or the driver's memory is used up
  unsupported,       ///< the device lacks an ability that the program or the signature needs
  deadline,          ///< the request's deadline has passed; the device may still work on it
  overload,          ///< too many requests wait for the device
  other_device,      ///< an argument is on another device
  closed,            ///< the runtime has ended
  driver,            ///< another failure; the text contains OpenCL's name for it
};

/// Returns the category of `gpu_errc`.
[[nodiscard]] const base::error_category& error_category_of(gpu_errc) noexcept;

}  // namespace garrick::gpu
