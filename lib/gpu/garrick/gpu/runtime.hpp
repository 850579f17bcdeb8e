// The access to this machine's devices: finds them, and owns the threads that call drivers.
//
//   gpu::runtime gpus;                       // before the actor system, so that it ends after it
//   garrick::actor_system system;
//   const gpu::device best = gpus.first().value();
//
// Thread safety: the constructor and the destructor belong to one thread; all other functions are
// constant.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/gpu/device.hpp>
#include <garrick/gpu/settings.hpp>

#include <memory>
#include <string>
#include <vector>

namespace garrick::gpu {

namespace internal {
class runtime_core;
}

/// The devices of this machine, each with a thread that submits to it, and a thread that builds
/// programs. There may be several runtimes in a process; the objects of one are refused by another.
class runtime {
 public:
  /// Asks every driver for its devices, and waits for the answers, which may take a second: not for
  /// a worker. No device, or no driver, is not a failure. Throws std::invalid_argument for a
  /// setting out of its range, std::system_error if a thread cannot be created, std::bad_alloc.
  explicit runtime(const gpu_settings& s = {});
  /// Fails calls that were not submitted yet with `gpu_errc::closed`, waits for the others, at most
  /// for `gpu.shutdown`, and then fails those, too. Objects that a driver does not give back, a
  /// thread among them, are left behind and never freed. Not on a worker. Programs and refs may
  /// live on.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Returns all devices: graphics processors first, then accelerators, then processors.
  [[nodiscard]] const std::vector<device>& devices() const noexcept;
  /// Returns the devices that `which` takes, in that order.
  [[nodiscard]] std::vector<device> find(const device_filter& which = {}) const;
  /// Returns the first one. Error: `gpu_errc::no_device`, with a text that names the existing ones.
  [[nodiscard]] base::result<device> first(const device_filter& which = {}) const;
  /// Returns the devices and drivers that were found and cannot be used, each with the reason.
  [[nodiscard]] const std::vector<std::string>& refused() const noexcept;

 private:
  std::unique_ptr<internal::runtime_core> core_;
};

}  // namespace garrick::gpu
