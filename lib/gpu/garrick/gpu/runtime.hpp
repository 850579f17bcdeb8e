// The access to this machine's devices. A runtime finds them, and owns the threads that call
// drivers.
//
//   gpu::runtime gpus;               // before the actor system, so that it is destroyed after it
//   garrick::actor_system system;
//   const gpu::device best = gpus.first().value();
//
// Thread safety: the constructor and the destructor belong to one thread; any thread may call the
// other functions, which are const.
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
/// programs. A process may have several runtimes; a runtime refuses the objects of another one.
class runtime {
 public:
  /// Asks every driver for its devices, and waits for the answers, which may take a second; do not
  /// call it on a worker. A machine without devices or drivers is no error. Throws
  /// std::invalid_argument for a setting out of its range, std::system_error if a thread cannot be
  /// created, std::bad_alloc.
  explicit runtime(const gpu_settings& s = {});
  /// Fails calls that are not yet submitted with `gpu_errc::closed`, waits for the other calls for
  /// at most `gpu.shutdown`, and then fails these, too. Objects that a driver does not give back,
  /// possibly a thread, are never freed. Do not call it on a worker. Programs and refs may outlive
  /// the runtime.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Returns all devices: graphics processors first, then accelerators, then processors.
  [[nodiscard]] const std::vector<device>& devices() const noexcept;
  /// Returns the devices that `which` takes, in the order of `devices()`.
  [[nodiscard]] std::vector<device> find(const device_filter& which = {}) const;
  /// Returns the first device that `which` takes. Error: `gpu_errc::no_device`, with a text that
  /// names the existing devices.
  [[nodiscard]] base::result<device> first(const device_filter& which = {}) const;
  /// Returns the devices and drivers that were found but cannot be used, each with the reason.
  [[nodiscard]] const std::vector<std::string>& refused() const noexcept;

 private:
  std::unique_ptr<internal::runtime_core> core_;
};

}  // namespace garrick::gpu
