// Options for a kernel's actor and its requests, and for a kernel's stage and its tuples.
//
// Thread safety: values.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/gpu/device.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace garrick::gpu {

/// As a number of elements: one element for each id of the range (`nd_range::index_space`).
inline constexpr std::size_t per_item = 0;
/// As a number of elements of an input: the number in the request, which must not be zero.
inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

/// The treatment of a device_ref of a device other than the one on which the kernel runs.
enum class foreign_ref : std::uint8_t {
  refuse,  ///< the answer is `gpu_errc::other_device`
  move,    ///< the data are read to the host and written to the kernel's device
};

/// Options for a kernel's actor and its requests, and for a kernel's stage and its tuples.
///
///     using ints = std::vector<int>;   // 64 items in groups of 16: a sum for each group
///     const auto sums = gpu::spawn<ints(ints, gpu::local<int>)>(
///         system, program, "group_sums", gpu::nd_range(64).groups_of(16),
///         {.output_elements = {4}, .deadline = duration::seconds(2)});
struct kernel_options {
  /// the device on which the kernel runs; empty: the program's first device
  device on{};
  /// use all devices of the program: each request goes to the device that is expected to finish it
  /// first
  bool spread = false;
  /// elements of the inputs and in-out arguments in their order; those left out are `per_item`
  std::vector<std::size_t> input_elements{};
  /// elements of the outputs in their order; those left out are `per_item`
  std::vector<std::size_t> output_elements{};
  /// elements of the local arguments in their order; those left out are the items of a group
  std::vector<std::size_t> local_elements{};
  foreign_ref foreign = foreign_ref::refuse;  ///< the treatment of refs of other devices
  /// the most time of a request, from the moment when the actor handles it; zero: the setting
  /// `gpu.deadline`
  base::duration deadline{};
  std::string name{};  ///< the name of the actor or the stage; empty: the kernel's
};

}  // namespace garrick::gpu
