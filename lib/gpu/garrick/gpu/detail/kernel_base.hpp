// The half of an actor with a kernel that does not depend on its types: chooses a device, checks
// sizes, gives calls to devices and is told of their end.
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

/// Returns the exception being handled as an error.
[[nodiscard]] error thrown_by(const char* what, const std::string& where);

/// The parts of a kernel's actor. Copying and destroying them is not inline code, which each
/// kernel's signature would have several times.
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
  double ns_per_item = 0;   ///< 0: it was never measured
};

/// Returns the lane on which `items` more are done first; those that were never measured come
/// first.
[[nodiscard]] std::size_t fastest(std::span<const kernel_lane> lanes, std::uint64_t items) noexcept;

/// Returns the kernel of a seed on each of its devices, or the reason why it cannot run. If the
/// kernel needs doubles, devices without them are refused.
[[nodiscard]] result<std::vector<kernel_lane>> lanes_of(const kernel_seed& s,
                                                        std::span<const expected_parameter> wanted);

/// The parameters of a kernel's signature, for code that does not know their types.
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
  /// Writes to `all` how many elements each container has; 0 for a ref that names nothing.
  virtual void sizes(std::size_t* all) const noexcept = 0;
  /// Makes the arguments. Throws std::bad_alloc, and std::length_error of a container.
  virtual void fill(const launch_plan& plan) = 0;
};

/// See above. The derived class is an actor.
class kernel_base {
 public:
  kernel_base(const kernel_base&) = delete;
  kernel_base& operator=(const kernel_base&) = delete;

 protected:
  kernel_base(kernel_seed s, const kernel_facts& facts);
  virtual ~kernel_base();

  /// Chooses range and sizes for a call, and makes its arguments. `wanted`: a range that the
  /// pre-processing function has chosen. Returns why it cannot run. Throws as kernel_call::fill.
  [[nodiscard]] error prepare(kernel_call& c, const std::optional<nd_range>& wanted) const;
  /// Chooses a lane for a call with filled arguments, and gives it to the device. Always calls
  /// `settled`, perhaps at once.
  void launch(actor_base& me, std::shared_ptr<call> c);
  /// Called on the actor's turn when the call has ended.
  virtual void settled(const std::shared_ptr<call>& c, const error& why) = 0;
  /// Returns "kernel k on device d".
  [[nodiscard]] std::string where() const;

 private:
  /// Returns range and sizes for a call with this many elements in its inputs and in-out arguments.
  [[nodiscard]] result<launch_plan> plan_for(const std::optional<nd_range>& wanted,
                                             std::span<const std::size_t> inputs) const;
  /// Returns an error unless a std::array gets exactly its number of elements.
  [[nodiscard]] error not_as_fixed(const launch_plan& plan) const;
  /// Returns an error if none of the devices has this many bytes. Before the host makes room for
  /// them.
  [[nodiscard]] error too_large(const launch_plan& plan) const;
  [[nodiscard]] std::size_t lane_for(const call& c) const;
  void bring_home(actor_base& me, std::shared_ptr<call> c, std::size_t lane, std::size_t from,
                  instant until);
  void give(actor_base& me, std::shared_ptr<call> c, std::size_t lane, instant until);
  /// Answers with a response's error: a time-out becomes the device's `deadline`.
  void failed(const std::shared_ptr<call>& c, std::size_t lane, const error& why);
  [[nodiscard]] error groups_for(nd_range& r) const;
  [[nodiscard]] duration deadline() const;
  [[nodiscard]] std::size_t elements(const std::vector<std::size_t>& told, std::size_t at,
                                     std::size_t otherwise) const noexcept;

  const kernel_seed seed_;
  const kernel_facts& facts_;
  error refusal_;  ///< the kernel cannot run: each request is answered with this
  std::vector<kernel_lane> lanes_;
};

}  // namespace garrick::gpu::detail
