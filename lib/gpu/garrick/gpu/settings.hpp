// The settings `gpu.*` of a runtime: the treatment of its devices.
//
// Thread safety: a value.
#pragma once

#include <garrick/base/time/clock.hpp>

#include <cstdint>
#include <string>

namespace garrick::base {
class setting_table;
}

namespace garrick::gpu {

/// Keys `gpu.*`.
///
///     gpu::runtime gpus({.memory = 1024, .deadline = duration::seconds(5)});   // 1 GiB at most
struct gpu_settings {
  /// mebibytes of each device that buffers may take; 0: three quarters of the device's memory
  std::uint32_t memory = 0;
  /// requests that are with the driver of one device at once: 1 to 256
  std::uint32_t in_flight = 8;
  /// requests that wait for one device or for the builder, at least 1; the next one is `overload`
  std::uint32_t waiting = 4096;
  /// in-order queues for each device, up to 16; 0: one out-of-order queue, or four if it has none
  std::uint32_t queues = 0;
  /// how long a request may take, unless its actor's options say; above zero
  base::duration deadline = base::duration::seconds(30);
  /// how long the end of a runtime waits for calls that are with a driver
  base::duration shutdown = base::duration::seconds(5);
  /// where compiled programs are kept, a folder that only this user can write; empty: in memory
  /// alone
  std::string cache{};
};

/// Adds the rows of `gpu.*`, which fill these variables. A program calls it on the table that it
/// loads its settings with.
void add_settings(base::setting_table& table, gpu_settings& s);

}  // namespace garrick::gpu
