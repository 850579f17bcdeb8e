// The half of a kernel's actor that does not depend on its types: chooses a device, checks sizes,
// gives calls to devices and handles their end.
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turns.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/detail/call.hpp>
#include <garrick/gpu/detail/kernel_check.hpp>
#include <garrick/gpu/kernel_options.hpp>
#include <garrick/gpu/program.hpp>
#include <garrick/gpu/range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace garrick::gpu::detail {

/// Returns an error for the exception that is being handled.
[[nodiscard]] error thrown_by(const char* what, const std::string& where);

/// The parts of a kernel's actor. Copying and destroying them is not inline: the code would be
/// repeated several times for each kernel's signature.
struct kernel_seed {
  using garrick_sendable = void;
  kernel_seed(gpu::program p, std::string name_of_kernel, nd_range r, kernel_options o);
  kernel_seed(const kernel_seed& other);
  kernel_seed(kernel_seed&& other) noexcept;
  ~kernel_seed();
  kernel_seed& operator=(const kernel_seed&) = delete;
  kernel_seed& operator=(kernel_seed&&) = delete;

  gpu::program program;
  std::string kernel;
  nd_range range;
  kernel_options options;
};

/// The sizes of one run of the kernel.
struct launch_plan {
  nd_range range{1};
  std::vector<std::size_t> outputs;  ///< elements
  std::vector<std::size_t> locals;   ///< elements
};

/// A kernel on one of the actor's devices.
struct kernel_lane {
  std::shared_ptr<const built_kernel> kernel;
  std::uint64_t items = 0;  ///< under way
  std::uint32_t calls = 0;  ///< under way
  double ns_per_item = 0;   ///< 0: not measured
};

/// Returns the lane that is expected to finish `items` more items first. An unmeasured lane without
/// calls is preferred.
[[nodiscard]] std::size_t fastest(std::span<const kernel_lane> lanes, std::uint64_t items) noexcept;

/// Returns the kernel of a seed on each of its devices, or the reason why it cannot run. If the
/// kernel needs doubles, devices without them are refused.
[[nodiscard]] result<std::vector<kernel_lane>> lanes_of(const kernel_seed& s,
                                                        std::span<const expected_parameter> wanted);

/// The parameters of a kernel's signature, for untyped code.
struct kernel_facts {
  std::span<const expected_parameter> expected;  ///< outputs last
  std::size_t containers;                        ///< inputs and in-out arguments
  std::span<const std::size_t> output_bytes;     ///< of an element of each output
  std::span<const std::size_t> output_sizes;     ///< elements of a std::array; otherwise 0
  std::span<const std::size_t> local_bytes;      ///< of an element of each local argument
};

/// A call of a kernel, which owns the arguments.
class kernel_call : public call {
 public:
  /// Writes the number of elements of each container to `all`; 0 for an empty ref.
  virtual void sizes(std::size_t* all) const noexcept = 0;
  /// Makes the arguments. Throws std::bad_alloc, or std::length_error from a container.
  virtual void fill(const launch_plan& plan) = 0;
};

/// The untyped half of a kernel's actor. The derived class is the actor.
class kernel_base {
 public:
  kernel_base(const kernel_base&) = delete;
  kernel_base& operator=(const kernel_base&) = delete;

 protected:
  kernel_base(kernel_seed s, const kernel_facts& facts);
  virtual ~kernel_base();

  /// Chooses range and sizes for a call, and makes its arguments. `wanted`: a range that the
  /// pre-processing function has chosen. Returns the reason why the call cannot run, or no
  /// error. Throws as kernel_call::fill.
  [[nodiscard]] error prepare(kernel_call& c, const std::optional<nd_range>& wanted) const;
  /// Chooses a lane for a call with filled arguments, and gives the call to the lane's device.
  /// Always calls `settled`, possibly before it returns.
  void launch(actor_base& me, std::shared_ptr<call> c);
  /// Called on the actor's turn when the call has ended.
  virtual void settled(const std::shared_ptr<call>& c, const error& why) = 0;
  /// Returns "kernel k on device d".
  [[nodiscard]] std::string where() const;

 private:
  /// Returns the range and the sizes for a call with these numbers of elements in its inputs and
  /// in-out arguments.
  [[nodiscard]] result<launch_plan> plan_for(const std::optional<nd_range>& wanted,
                                             std::span<const std::size_t> inputs) const;
  /// Returns an error if an output that is a std::array would get another number of elements.
  [[nodiscard]] error not_as_fixed(const launch_plan& plan) const;
  /// Returns an error if an output or the local arguments are too large for all devices. Called
  /// before the host allocates memory for the outputs.
  [[nodiscard]] error too_large(const launch_plan& plan) const;
  [[nodiscard]] std::size_t lane_for(const call& c) const;
  void bring_home(actor_base& me, std::shared_ptr<call> c, std::size_t lane, std::size_t from,
                  instant until);
  void give(actor_base& me, std::shared_ptr<call> c, std::size_t lane, instant until);
  /// Settles the call with a response's error; a time-out becomes `gpu_errc::deadline`.
  void failed(const std::shared_ptr<call>& c, std::size_t lane, const error& why);
  [[nodiscard]] error groups_for(nd_range& r) const;
  [[nodiscard]] duration deadline() const;
  [[nodiscard]] std::size_t elements(const std::vector<std::size_t>& told, std::size_t at,
                                     std::size_t otherwise) const noexcept;

  const kernel_seed seed_;
  const kernel_facts& facts_;
  error refusal_;  ///< set if the kernel cannot run: the answer to each request
  std::vector<kernel_lane> lanes_;
};

}  // namespace garrick::gpu::detail
