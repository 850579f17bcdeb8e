// A device, and the choice of devices.
//
//   std::vector<device> all = gpus.find({.type = device_type::gpu, .needs = capability::doubles});
//
// Thread safety: a device is a handle that can be copied and sent; its functions return constants,
// except `is_lost`.
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
  any,          ///< for a choice
  gpu,          ///< a graphics processor
  accelerator,  ///< something else that is not a processor of the host
  cpu,          ///< the host's processors, as a driver offers them
  other,        ///< another kind
};

/// Abilities of a device beyond the least. They can be combined: `a | b`.
enum class capability : std::uint32_t {
  none = 0,             ///< nothing more
  doubles = 1,          ///< numbers of 64 bits
  halves = 2,           ///< numbers of 16 bits
  out_of_order = 4,     ///< a queue with commands that overtake each other
  shared_memory = 8,    ///< its memory is the host's
  own_memory = 16,      ///< its memory is its own
  online_compiler = 32  ///< it compiles sources
};
/// Returns the abilities of both.
[[nodiscard]] constexpr capability operator|(capability a, capability b) noexcept {
  return static_cast<capability>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// Returns the abilities in both.
[[nodiscard]] constexpr capability operator&(capability a, capability b) noexcept {
  return static_cast<capability>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}

/// The driver's description of a device.
struct device_info {
  std::string name;                       ///< the driver's name for it
  std::string vendor;                     ///< its maker
  std::string platform;                   ///< the driver
  std::string driver_version;             ///< the driver's own number
  std::string version;                    ///< of OpenCL: "OpenCL 1.2 pocl"
  device_type type = device_type::other;  ///< never `any`
  capability can = capability::none;      ///< all that it can
  std::uint32_t compute_units = 0;        ///< groups that it runs at once
  std::uint32_t clock_mhz = 0;            ///< 0: the driver does not say
  std::uint64_t memory = 0;               ///< bytes
  std::uint64_t largest_buffer = 0;       ///< bytes
  std::uint64_t local_memory = 0;         ///< bytes of a group
  std::size_t largest_group = 0;          ///< work items
};

/// A choice of devices: all set conditions must hold.
struct device_filter {
  device_type type = device_type::any;  ///< of this kind
  std::string name{};                   ///< this is part of its name, its vendor's or its driver's
  capability needs = capability::none;  ///< it has all of these
  std::uint64_t memory = 0;             ///< it has at least this many bytes

  /// Returns true if the filter takes the device. Letters of names are compared without their case.
  [[nodiscard]] bool takes(const device_info& d) const;
};

/// A handle to a device of a runtime; empty, or for ever the same device. Two handles are equal if
/// they are of the same device of the same runtime. It may outlive the runtime: then requests to it
/// fail with `gpu_errc::closed`.
class device {
 public:
  using garrick_sendable = void;

  /// Makes an empty handle.
  device() noexcept = default;
  /// For the framework: makes a handle to the device.
  explicit device(std::shared_ptr<internal::device_core> core) noexcept : core_(std::move(core)) {}

  /// Returns false if the handle is empty: then nothing below may be called.
  explicit operator bool() const noexcept { return core_ != nullptr; }
  /// Returns the driver's description when the runtime began.
  [[nodiscard]] const device_info& info() const noexcept;
  /// Returns `info().name`.
  [[nodiscard]] const std::string& name() const noexcept { return info().name; }
  /// Returns true if it has all of these abilities.
  [[nodiscard]] bool has(capability c) const noexcept { return (info().can & c) == c; }
  /// Returns the bytes that buffers may take in all: the setting `gpu.memory`.
  [[nodiscard]] std::uint64_t memory_budget() const noexcept;
  /// Returns the bytes that buffers take now. A hint: the device's thread gives dropped memory
  /// back.
  [[nodiscard]] std::uint64_t memory_used() const noexcept;
  /// Returns true if the driver has given it up. It does not come back.
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
