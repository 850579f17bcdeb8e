// Settings and counters of the layer `slicing`.
//
// Thread safety: plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/layer.hpp"

namespace garrick::net {

/// Bytes that count for a piece that came too early, besides its own bytes.
inline constexpr std::size_t piece_overhead = 64;

/// Settings of `slicing`. Both ends should have the same settings.
///
///     net::node_settings s;
///     s.link.slicing.largest = 1u << 20;   // messages of at most 1 MiB
struct slicing_settings {
  std::uint32_t largest = 64u << 20;  ///< the most bytes of a message; at least 1
  /// The most bytes that go down at a time, even if the layer below takes more; at least 64.
  std::uint32_t piece = 64u << 10;
  /// The layer is not writable while this many messages wait to be sent; at least 1. The system's
  /// lanes have a room of the same size for themselves; exceeding it ends the link.
  std::uint32_t queue_messages = 4096;
  /// The same in bytes, of messages that are not large (`large_message`). The last message that is
  /// taken may be larger than the remaining room; the system's lanes have `largest` more. Of large
  /// messages twice `partial_bytes` may wait.
  std::uint32_t queue_bytes = 8u << 20;
  /// The most messages under way in pieces at a time; the system's lanes have as many again.
  std::uint32_t partial_messages = 64;
  /// The most bytes of these messages; at least `largest`, even if set lower. The receiver takes
  /// twice as much.
  std::uint32_t partial_bytes = 64u << 20;
  /// The time that a message waits for its next piece, if pieces can be lost.
  base::duration expiry = base::duration::seconds(2);
};

/// Counters of `slicing`, since the link began.
struct slicing_counters {
  std::uint64_t cut = 0;            ///< messages that were sent in pieces
  std::uint64_t pieces = 0;         ///< their pieces
  std::uint64_t joined = 0;         ///< messages that came in pieces and were completed
  std::uint64_t repeated = 0;       ///< pieces without new bytes: dropped
  std::uint64_t stale = 0;          ///< pieces of messages that are over: dropped
  std::uint64_t malformed = 0;      ///< pieces that are invalid or contradict another: dropped
  std::uint64_t expired = 0;        ///< messages given up because their next piece did not come
  std::uint64_t evicted = 0;        ///< messages given up to make room
  std::uint64_t abandoned = 0;      ///< messages given up because a piece is known to be lost
  std::uint64_t queued = 0;         ///< messages that wait to be sent, now
  std::uint64_t queued_bytes = 0;   ///< their bytes
  std::uint64_t partial = 0;        ///< messages that have come in part, now
  std::uint64_t partial_bytes = 0;  ///< the bytes allocated for them

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"cut", cut},
                      layer_count{"pieces", pieces},
                      layer_count{"joined", joined},
                      layer_count{"repeated", repeated},
                      layer_count{"stale", stale},
                      layer_count{"malformed", malformed},
                      layer_count{"expired", expired},
                      layer_count{"evicted", evicted},
                      layer_count{"abandoned", abandoned},
                      layer_count{"queued", queued},
                      layer_count{"queued_bytes", queued_bytes},
                      layer_count{"partial", partial},
                      layer_count{"partial_bytes", partial_bytes}};
  }
};

}  // namespace garrick::net
