// Programs: OpenCL sources, compiled for some devices.
//
//   pending_response<program> p = gpu::build(*this, source, {.on = gpus.find()});
//   result<program> sums = co_await std::move(p);
//   result<program> same = gpu::build(system, source, {.on = {gpu}}).get();     // a thread
//
// A compilation takes long, so a thread of the runtime builds programs, one after the other. A
// program is built only once for a device: the runtime keeps it and, with the setting `gpu.cache`,
// stores it in a folder.
//
// Thread safety: a program is a handle that can be copied and sent; its functions return constants.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/detail/built.hpp>
#include <garrick/gpu/detail/outside.hpp>
#include <garrick/gpu/device.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace garrick::gpu {

/// The options for compiling a program.
struct build_options {
  std::vector<device> on{};      ///< the devices to build for: at least one, all of one runtime
  std::string flags{};           ///< the compiler's options: "-DN=16 -cl-mad-enable"
  std::string name = "program";  ///< the program's name in errors
  capability needs = capability::none;  ///< abilities that each device must have
};

/// A handle to a built program. It may outlive the runtime.
class program {
 public:
  using garrick_sendable = void;  ///< it is constant

  /// Makes an empty program; its kernels give the error `gpu_errc::kernel_not_found`.
  program() noexcept = default;
  /// For the framework: takes over a built program.
  explicit program(std::shared_ptr<const detail::built_program> built) noexcept
      : built_(std::move(built)) {}

  /// Returns false if the handle is empty.
  explicit operator bool() const noexcept { return built_ != nullptr; }
  /// Returns the devices that it was built for, in the order of `build_options::on`.
  [[nodiscard]] std::vector<device> devices() const;
  /// Returns the names of its kernels.
  [[nodiscard]] std::vector<std::string> kernels() const;

  /// For the framework: returns the built program.
  [[nodiscard]] const std::shared_ptr<const detail::built_program>& built() const noexcept {
    return built_;
  }

 private:
  std::shared_ptr<const detail::built_program> built_;
};

namespace detail {

/// Gives the build to the builder of the first device's runtime, which always fulfils `done`.
void begin_build(std::string source, build_options o, completion<program> done);

}  // namespace detail

/// Compiles `source` for the devices of `o`. Returns a pending_response if `from` is an actor
/// (`*this`). If `from` is an actor system, returns a response whose `get()` waits for the program
/// on an ordinary thread. No worker waits. Errors: `gpu_errc::build_failed` with the compiler's log
/// for the first device on which the build fails; `no_device` if `o.on` is empty; `unsupported` if
/// a device lacks an ability of `o.needs`; `overload` if `gpu.waiting` programs wait;
/// `device_lost`; `closed`. No deadline limits a build; use `within`.
template <class From>
[[nodiscard]] auto build(From& from, std::string source, build_options o) {
  return detail::ask_outside<program>(
      from, [source = std::move(source), o = std::move(o)](completion<program> done) mutable {
        detail::begin_build(std::move(source), std::move(o), std::move(done));
      });
}

}  // namespace garrick::gpu
