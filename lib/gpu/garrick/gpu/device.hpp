// A device, and the choice of devices.
//
//   std::vector<device> all = gpus.find({.type = device_type::gpu, .needs = capability::doubles});
//
// Thread safety: a device is a handle that can be copied and sent. Its functions return constants,
// except `is_lost` and `memory_used`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace garrick::gpu {

namespace internal {
class device_core;
}

/// Kinds of devices.
enum class device_type : std::uint8_t {
  any,          ///< any kind, in a filter
  gpu,          ///< a graphics processor
  accelerator,  ///< another device that is not a processor of the host
  cpu,          ///< the host's processors, as a driver offers them
  other,        ///< another kind
};

/// Abilities that not every device has. They can be combined: `a | b`.
enum class capability : std::uint32_t {
  none = 0,             ///< nothing more
  doubles = 1,          ///< numbers of 64 bits
  halves = 2,           ///< numbers of 16 bits
  out_of_order = 4,     ///< a queue with commands that overtake each other
  shared_memory = 8,    ///< the device uses the host's memory
  own_memory = 16,      ///< the device has memory of its own
  online_compiler = 32  ///< the device's driver compiles sources
};
/// Returns the abilities in `a` or `b`.
[[nodiscard]] constexpr capability operator|(capability a, capability b) noexcept {
  return static_cast<capability>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// Returns the abilities in `a` and `b`.
[[nodiscard]] constexpr capability operator&(capability a, capability b) noexcept {
  return static_cast<capability>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}

/// The driver's description of a device.
struct device_info {
  std::string name;                       ///< the device's name
  std::string vendor;                     ///< the device's maker
  std::string platform;                   ///< the driver
  std::string driver_version;             ///< the version of the driver
  std::string version;                    ///< the version of OpenCL: "OpenCL 1.2 pocl"
  device_type type = device_type::other;  ///< never `any`
  capability can = capability::none;      ///< all its abilities
  std::uint32_t compute_units = 0;        ///< the groups that it runs at once
  std::uint32_t clock_mhz = 0;            ///< 0: unknown
  std::uint64_t memory = 0;               ///< bytes
  std::uint64_t largest_buffer = 0;       ///< bytes
  std::uint64_t local_memory = 0;         ///< bytes of a group
  std::size_t largest_group = 0;          ///< work items
};

/// A choice of devices: a device must meet all conditions that are set.
struct device_filter {
  device_type type = device_type::any;  ///< the kind of the device
  std::string name{};                   ///< a part of its name, its vendor's or its driver's
  capability needs = capability::none;  ///< abilities that it must have
  std::uint64_t memory = 0;             ///< the least bytes of its memory

  /// Returns true if the device meets the conditions. Names are compared without regard to case.
  [[nodiscard]] bool takes(const device_info& d) const;
};

/// A handle to a device of a runtime, or an empty handle. Two handles are equal if they name the
/// same device of the same runtime. A handle may outlive the runtime: requests to its device then
/// fail with `gpu_errc::closed`.
class device {
 public:
  using garrick_sendable = void;

  /// Makes an empty handle.
  device() noexcept = default;
  /// For the framework: makes a handle to the device.
  explicit device(std::shared_ptr<internal::device_core> core) noexcept : core_(std::move(core)) {}

  /// Returns false if the handle is empty; no function below may then be called.
  explicit operator bool() const noexcept { return core_ != nullptr; }
  /// Returns the driver's description of the device at the start of the runtime.
  [[nodiscard]] const device_info& info() const noexcept;
  /// Returns `info().name`.
  [[nodiscard]] const std::string& name() const noexcept { return info().name; }
  /// Returns true if the device has all of these abilities.
  [[nodiscard]] bool has(capability c) const noexcept { return (info().can & c) == c; }
  /// Returns the bytes that all buffers together may take: the setting `gpu.memory`.
  [[nodiscard]] std::uint64_t memory_budget() const noexcept;
  /// Returns the bytes that buffers take now. The value is a hint: the device's thread frees
  /// dropped memory a little later.
  [[nodiscard]] std::uint64_t memory_used() const noexcept;
  /// Returns true if the driver has reported the device as lost. A lost device is never usable
  /// again.
  [[nodiscard]] bool is_lost() const noexcept;

  friend bool operator==(const device&, const device&) noexcept = default;

  /// For the framework: returns the device behind the handle.
  [[nodiscard]] const std::shared_ptr<internal::device_core>& core() const noexcept {
    return core_;
  }

 private:
  std::shared_ptr<internal::device_core> core_;
};

}  // namespace garrick::gpu
