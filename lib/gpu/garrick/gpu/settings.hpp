// The settings `gpu.*` of a runtime: limits and deadlines of its devices.
//
// Thread safety: a plain value.
#pragma once

#include <garrick/base/time/clock.hpp>

#include <cstdint>
#include <string>

namespace garrick::base {
class setting_table;
}

namespace garrick::gpu {

/// The settings with the keys `gpu.*`.
///
///     gpu::runtime gpus({.memory = 1024, .deadline = duration::seconds(5)});   // 1 GiB at most
struct gpu_settings {
  /// mebibytes of each device's memory that buffers may take; 0: three quarters of it
  std::uint32_t memory = 0;
  /// the most requests that the driver of one device has at once: 1 to 256
  std::uint32_t in_flight = 8;
  /// the most requests that wait for one device or for the builder, at least 1; further requests
  /// fail with `overload`
  std::uint32_t waiting = 4096;
  /// in-order queues for each device, up to 16; 0: one out-of-order queue, or four in-order queues
  /// if the device has none
  std::uint32_t queues = 0;
  /// the most time of a request, unless its actor's options set another; above zero
  base::duration deadline = base::duration::seconds(30);
  /// the most time that the end of a runtime waits for calls that a driver has
  base::duration shutdown = base::duration::seconds(5);
  /// the folder for compiled programs, which only this user may be able to write; empty: programs
  /// are kept in memory only
  std::string cache{};
};

/// Adds the rows of `gpu.*` to `table`; the rows fill the members of `s`. Call it for the table
/// with which the program loads its settings.
void add_settings(base::setting_table& table, gpu_settings& s);

}  // namespace garrick::gpu
