// A built program: its kernels and their parameters.
//
// Private: installed because templates need it.
//
// Thread safety: constant after the builder has made it. Only the submitting thread of a device
// uses and destroys the driver's objects.
#pragma once

#include <garrick/gpu/detail/buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::gpu::detail {

/// The memory of a kernel's parameter.
enum class address_space : std::uint8_t { global, constant, local, value };

/// The driver's description of a kernel's parameter.
struct parameter {
  address_space space = address_space::value;
  std::string type{};  ///< as the source names it, without `*`
  bool is_const = false;
};

/// A kernel on one device.
class built_kernel {
 public:
  std::string name;
  std::vector<parameter> parameters;
  bool types_known = false;  ///< false: only the number of parameters is known
  std::size_t largest_group = 0;
  std::array<std::size_t, 3> required_group{};  ///< all 0: any
  void* handle = nullptr;                       ///< the driver's object
  std::shared_ptr<internal::device_core> on;

  /// Returns true if the source promises not to write through this parameter.
  [[nodiscard]] bool only_reads(std::size_t parameter) const noexcept {
    return types_known && parameter < parameters.size() &&
           (parameters[parameter].is_const ||
            parameters[parameter].space == address_space::constant);
  }
};

/// A program on one device.
class device_program final : public disposable {
 public:
  device_program(std::shared_ptr<internal::device_core> device, void* driver_object) noexcept;

  std::vector<built_kernel> kernels;
  std::shared_ptr<internal::device_core> on;

  /// Returns the kernel of this name; null if there is none.
  [[nodiscard]] const built_kernel* find(const std::string& name) const noexcept;
  void dispose() noexcept override;

 private:
  ~device_program() override = default;
  void* program_;
};

/// A deleter that gives a program to its device's thread, which destroys it.
struct discard_program {
  void operator()(device_program* p) const noexcept;
};

/// A program on all devices that it was built for.
struct built_program {
  std::string name;
  std::vector<std::shared_ptr<const device_program>> on;
};

}  // namespace garrick::gpu::detail
