// Hands one call to the driver: buffers, arguments, commands.
//
// Thread safety: only the submitting thread of the device.
#pragma once

#include <garrick/gpu/detail/call.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garrick/gpu/internal/opencl.hpp"

namespace garrick::gpu::internal {

class device_core;

/// The submission of one call.
class submission {
 public:
  submission(device_core& d, detail::call& c);

  /// Returns the bytes of the budget that a call takes.
  [[nodiscard]] static std::uint64_t need_of(const detail::call& c) noexcept;
  /// Enqueues all commands of the call. Even after an error, commands may be under way.
  [[nodiscard]] error submit();

 private:
  enum class lifetime : std::uint8_t { of_call, kept };

  [[nodiscard]] error enqueue_all();
  [[nodiscard]] error prepare(detail::argument& a);
  [[nodiscard]] error give_memory(detail::argument& a);
  [[nodiscard]] error copy_if_shared(detail::argument& a);
  [[nodiscard]] error write(detail::argument& a, detail::buffer& to);
  [[nodiscard]] error run_kernel();
  [[nodiscard]] error read_results();
  [[nodiscard]] error read(detail::argument& a);
  [[nodiscard]] error pin(std::size_t bytes, detail::buffer_ptr& into);
  [[nodiscard]] error make(std::size_t bytes, cl_mem_flags flags, lifetime how,
                           detail::buffer_ptr& into);
  /// Registers the command that was just enqueued with its call, and its callback with the driver.
  [[nodiscard]] error enqueued(cl_int code, const char* called, cl_event e, bool is_kernel = false);
  [[nodiscard]] error failed(const char* called, cl_int code) const;
  [[nodiscard]] cl_uint waits() const noexcept;
  [[nodiscard]] const cl_event* wait_list() const noexcept;

  device_core& device_;
  detail::call& call_;
  cl_command_queue queue_;
  std::vector<cl_event> before_;  ///< the events that the next command waits for
  /// The buffers of the arguments, for the kernel; empty for an argument without one.
  std::vector<detail::buffer_ptr> buffers_;
};

}  // namespace garrick::gpu::internal
