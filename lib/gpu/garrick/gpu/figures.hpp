// The work of a device so far.
//
// Thread safety: a plain value.
#pragma once

#include <garrick/base/time/clock.hpp>

#include <cstdint>

namespace garrick::gpu {

/// Sums since the runtime began. `figures_of` asks a device for them.
///
///     const gpu::device_figures f = gpu::figures_of(system, device).get().value();
///     std::printf("%llu kernels\n", static_cast<unsigned long long>(f.kernels));
struct device_figures {
  std::uint64_t kernels = 0;     ///< kernels that have run successfully
  std::uint64_t failures = 0;    ///< failed commands, and refused calls
  base::duration kernel_time{};  ///< the time of these kernels, by the driver's profile
  base::duration
      transfer_time{};  ///< the time of reads, writes and copies, by the driver's profile
  std::uint64_t copies_on_device = 0;  ///< copies made because a ref was shared
  std::uint64_t memory_used = 0;       ///< bytes of buffers now
};

}  // namespace garrick::gpu
