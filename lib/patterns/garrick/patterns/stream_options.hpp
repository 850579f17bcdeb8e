// The options for running a stream.
//
// Thread safety: options are plain values.
#pragma once

#include <cstddef>

namespace garrick::patterns {

/// The largest number of replicas of a farm.
inline constexpr std::size_t most_replicas = 4096;

/// The options for running a stream. No option changes the results of a stream, as long as nothing
/// throws.
///
///     const auto h = spawn(system, pipeline(twice, sink), {.capacity = 4, .in_place = false});
struct stream_options {
  std::size_t capacity = 1024;  ///< tuples of a channel; 1 to 2^20, rounded up to a power of two
  std::size_t replicas = 0;  ///< replicas of farms without a number of their own; 0: one per worker
  /// a node may run the next one in place, while the tuples are in the cache
  bool in_place = true;
  /// Producers choose among a farm's replicas themselves. If false, a separate node chooses, and an
  /// exception of its key or choice function ends the stream, whatever the producer's policy.
  bool remove_emitters = true;
  bool fuse = true;  ///< neighbours of which all but one are `cheap()` become one node
  /// If true, the actor behind the handle stays after the stream's end to answer requests, until no
  /// handle is left. If false, it ends with the stream, normally or with the stream's error, so
  /// that supervisors, links and monitors learn of the end.
  bool stays = true;
};

}  // namespace garrick::patterns
