// Shared helpers of the tests of GPU actors: two devices of PoCL, with the layer before the driver,
// and some kernels.
//
// Thread safety: a test's thread.
#pragma once

#include <garrick/gpu/gpu.hpp>
#include <garrick/patterns/patterns.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "gpu/layer/control.hpp"

namespace gpu_tests {

using namespace garrick;
using namespace std::chrono_literals;
using gpu::gpu_errc;
using gpu::nd_range;
using floats = std::vector<float>;

/// Counts and injections; one for the program. Sets the environment before the first call of
/// OpenCL: two `pthread` devices and the layer, unless it says something else.
gpu_layer::control& layer();
/// Undoes all injections, and lets held threads go. Fails the test if a call has waited, or a
/// callback has called the driver.
void restore(gpu_layer::control& l);

/// Kernels of most tests.
extern const char* const kernels;

/// A runtime, a system and the kernels, built for all devices.
class bench_of_devices {
 public:
  explicit bench_of_devices(const gpu::gpu_settings& s = {}, std::uint32_t workers = 1);
  ~bench_of_devices();

  gpu::device first() const { return gpus.devices().at(0); }
  gpu::device second() const { return gpus.devices().at(1); }
  /// `kernels`, for these devices.
  gpu::program built(std::vector<gpu::device> on);
  gpu::program built() { return built({first()}); }

  gpu::runtime gpus;
  settings how;
  actor_system system;
};

/// 0, 1, 2, …
floats counting(std::size_t n);

/// Runs the other side of `until` until it is true; for changes made by another thread.
template <class F>
void wait_until(const F& until) {
  while (!until()) std::this_thread::yield();
}

}  // namespace gpu_tests
