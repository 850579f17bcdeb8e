// A request to a device: the transfers to the device and back, and the kernel between them.
//
// Private: installed because templates need it.
//
// Invariants (with G2 and G3 of docs/decisions/0012-gpu.md)
// C1 A call owns the memory that its commands read and write (G2): its containers, and references
//    to its buffers.
// C2 A call is settled once (G3): the thread that first sets `settled_` fulfils the completion.
// C3 `due` counts the commands that have not reported, and one for the submitting thread while it
//    submits. The thread that takes it to zero is the last one to use the call on the driver's
//    behalf.
//
// Thread safety: members written before the call is given to a device may be read on every thread.
// The other members state their threads.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/detail/buffer.hpp>
#include <garrick/gpu/figures.hpp>
#include <garrick/gpu/range.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garrick::gpu::detail {

class built_kernel;

/// The use of an argument by a device.
enum class argument_kind : std::uint8_t {
  input,   ///< read by the kernel
  output,  ///< made for the kernel to write
  in_out,  ///< read and written
  scalar,  ///< a value
  local,   ///< memory of each group
  fetch,   ///< in a transfer: `buffer` is read to `host`
  pin,     ///< in a transfer: pinned memory is made
};

/// An argument. An input or in-out argument has host memory, or a buffer if it is on the device.
struct argument {
  argument_kind kind = argument_kind::scalar;
  bool stays = false;    ///< its result stays in `buffer`; otherwise it is read to `host`
  bool pinned = false;   ///< an output in pinned memory, which the device makes: `host_memory`
  void* host = nullptr;  ///< owned by the maker of the call; null: none
  std::size_t bytes = 0;
  buffer_ptr buffer{};
  buffer_ptr host_memory{};
};

class call;

/// A command that the driver has.
struct command {
  void* event = nullptr;
  call* of = nullptr;
  bool is_kernel = false;
};

/// A request to a device; derived classes own the arguments' memory.
class call {
 public:
  call() = default;
  virtual ~call();
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  // set before it is given to a device

  std::vector<argument> arguments;
  std::shared_ptr<const built_kernel> kernel;  ///< null: the call only transfers data
  nd_range range{1};
  std::string_view what = "a transfer";  ///< for errors, if there is no kernel
  /// Sets the completion that is fulfilled at the end.
  void completes(completion<> c) { completion_.emplace(std::move(c)); }

  /// Keeps `owner`, which owns an argument's memory, as long as the call lives.
  void keeps(std::shared_ptr<const void> owner) { kept_.push_back(std::move(owner)); }

  /// Abandons the call, whose answer is no longer wanted: the call is dropped if the driver does
  /// not have it yet. Called by the thread that gives the call to a device, before or after that.
  void abandon() noexcept;
  /// Returns true if `abandon` has been called.
  [[nodiscard]] bool is_abandoned() const noexcept {
    return abandoned_.load(std::memory_order_relaxed);  // order: relaxed: the device's lock orders
  }

  /// Returns true if the requester has its answer. While the driver has the call, this answer is a
  /// failure.
  [[nodiscard]] bool is_settled() const noexcept {
    return settled_.load(std::memory_order_relaxed);  // order: relaxed: a hint
  }

  /// Returns "kernel k on device d", for errors.
  [[nodiscard]] std::string where(const internal::device_core& device) const;

  /// Answers the requester with `why`, or with success if `why` is no error. Returns false if the
  /// call was settled before (C2).
  bool settle(const error& why) noexcept;

  /// Called when the submitting thread takes the call, for calls that request figures.
  virtual void looked_at(const device_figures& /*so_far*/) noexcept {}

  // for the submitting thread, and for callbacks by C3

  std::vector<command> commands;                ///< never moved while callbacks are due
  std::atomic<std::uint32_t> due{0};            ///< see C3
  std::vector<buffer_ptr> scratch;              ///< buffers that end with the call
  std::size_t transient = 0;                    ///< their bytes
  std::shared_ptr<call> next{};                 ///< in a list of the device, under its lock
  std::shared_ptr<internal::device_core> on{};  ///< the device that has it

 protected:
  /// Fulfils the completion. Called once, by `settle`, on a thread of the driver or the device.
  virtual void fulfil(const error& why) noexcept;

 private:
  std::optional<completion<>> completion_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::atomic<bool> settled_{false};
  std::atomic<bool> abandoned_{false};
};

}  // namespace garrick::gpu::detail
