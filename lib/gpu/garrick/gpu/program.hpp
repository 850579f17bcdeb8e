// Programs: OpenCL sources, compiled for some devices.
//
//   pending_response<program> p = gpu::build(*this, source, {.on = gpus.find()});
//   result<program> sums = co_await std::move(p);
//   result<program> same = gpu::build(system, source, {.on = {gpu}}).get();     // a thread
//
// A compiler takes long, so a thread of the runtime does it, one program after the other. A program
// that was built once for a device is not built again: the runtime keeps it, and, with the setting
// `gpu.cache`, a folder does.
//
// Thread safety: a program is a handle that can be copied and sent; its answers are constant.
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
  std::vector<device> on{};             ///< for these devices of one runtime, at least one
  std::string flags{};                  ///< for the compiler: "-DN=16 -cl-mad-enable"
  std::string name = "program";         ///< for errors
  capability needs = capability::none;  ///< abilities that each device must have
};

/// A handle to a program that was built. It may outlive the runtime.
class program {
 public:
  using garrick_sendable = void;  ///< it is constant

  /// Makes an empty program: a kernel of it is `gpu_errc::kernel_not_found`.
  program() noexcept = default;
  /// For the framework: takes over a built program.
  explicit program(std::shared_ptr<const detail::built_program> built) noexcept
      : built_(std::move(built)) {}

  /// Returns false if it is empty.
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

/// Gives the job to the builder of the first device's runtime; `done` is always fulfilled.
void begin_build(std::string source, build_options o, completion<program> done);

}  // namespace detail

/// Compiles `source` for the devices of `o`. Returns a pending_response if `from` is an actor
/// (`*this`); if it is an actor system, the response's `get()` gives the program to a thread. No
/// worker waits. Errors: `gpu_errc::build_failed` with the compiler's log, of the first device for
/// which it fails; `no_device` if `o.on` is empty; `unsupported` if a device lacks an ability of
/// `o.needs`; `overload` if `gpu.waiting` programs wait; `device_lost`; `closed`. A compiler may
/// take as long as it likes: only `within` limits the time.
template <class From>
[[nodiscard]] auto build(From& from, std::string source, build_options o) {
  return detail::ask_outside<program>(
      from, [source = std::move(source), o = std::move(o)](completion<program> done) mutable {
        detail::begin_build(std::move(source), std::move(o), std::move(done));
      });
}

}  // namespace garrick::gpu
