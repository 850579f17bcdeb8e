// Errors between an actor and a device.
//
// Thread safety: constants.
#pragma once

#include <garrick/base/values/error.hpp>

#include <cstdint>

namespace garrick::gpu {

/// Errors of devices, programs and kernels. Their texts name kernel and device where there are any.
///
///     const result<gpu::program> made = gpu::build(system, source, {.on = gpus.find()}).get();
///     if (!made && made.error() == gpu::gpu_errc::build_failed)
///       std::puts(made.error().to_string().c_str());
enum class gpu_errc : std::uint32_t {
  no_device = 1,     ///< no device fits the request
  device_lost,       ///< the driver has said that the device is not available; nothing runs on it
  build_failed,      ///< the compiler's log is in the text
  kernel_not_found,  ///< the program has no kernel of this name; those it has are in the text
  wrong_arguments,   ///< the kernel's parameters are not those of the signature
  wrong_size,        ///< a container has another number of elements than the kernel needs
  empty_argument,    ///< a container, an output or a local argument without elements
  bad_range,         ///< a range that the device cannot run
  out_of_memory,     ///< the device's budget or the driver's memory is used up
  unsupported,       ///< the device lacks an ability that the program or the signature needs
  deadline,          ///< the request's time had passed; the device may still work on it
  overload,          ///< too many requests wait for the device
  other_device,      ///< an argument lies on another device
  closed,            ///< the runtime has ended
  driver,            ///< another failure; OpenCL's name for it is in the text
};

/// Returns the category of `gpu_errc`.
[[nodiscard]] const base::error_category& error_category_of(gpu_errc) noexcept;

}  // namespace garrick::gpu
