// The end of the process, wherever the framework decides it. A program that wants to be informed
// installs a hook (concurrency/fatal.hpp).
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace garrick::base {

/// The cause of the process' end.
enum class fatal_cause : std::uint8_t {
  assertion,          ///< a condition that must hold does not (`GARRICK_ASSERT`)
  out_of_memory,      ///< no memory for work that cannot report an error
  refused_by_system,  ///< the system has withdrawn a call that it had granted
  forked_child,       ///< a forked child has tried an action that only its parent can do
  stack_overflow,     ///< a handler has used up its thread's stack
  terminate,          ///< std::terminate: an exception without a handler, a joinable thread, ...
  signal,             ///< SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT, without a handler
};

/// Bytes of a reason that are kept.
inline constexpr std::size_t longest_fatal_reason = 1000;

/// A line on the stack that begins with "garrick: ". Allocates nothing, so it may be used in a
/// signal's handler and without memory.
class fatal_line {
 public:
  fatal_line() noexcept;
  /// Appends `part`, as far as there is room.
  void add(std::string_view part) noexcept;
  /// Returns the appended text. Valid as long as the line.
  [[nodiscard]] std::string_view reason() const noexcept;
  /// Writes the line to the standard error stream.
  void write_out() noexcept;

 private:
  static constexpr std::string_view prefix = "garrick: ";
  char text_[prefix.size() + longest_fatal_reason + 1];
  std::size_t size_ = prefix.size();
};

/// A function that is called when the framework ends the process, on the thread that ends it. See
/// `fatal_hook`.
using end_listener = void (*)(fatal_cause, std::string_view reason) noexcept;

/// The listener to ends, or null. concurrency/fatal.cpp sets it.
inline constinit std::atomic<end_listener> listens_to_ends{nullptr};

/// Writes "garrick: ", `reason` and an end of line to the standard error stream, tells the
/// listener, and aborts. Allocates nothing, and may be called in a signal's handler.
[[noreturn, gnu::cold]] void end_process(fatal_cause cause,
                                         std::initializer_list<std::string_view> reason) noexcept;

}  // namespace garrick::base
