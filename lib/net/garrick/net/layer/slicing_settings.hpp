// What the layer `slicing` can be told, and what it counts.
//
// Thread safety: plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/layer.hpp"

namespace garrick::net {

/// Bytes that count for a piece that came too early, besides its own.
inline constexpr std::size_t piece_overhead = 64;

/// What `slicing` can be told. Both ends should be told the same.
struct slicing_settings {
  std::uint32_t largest = 64u << 20;  ///< bytes of a message; at least 1
  /// Bytes that go down at a time, at most, even if more would be taken; at least 64.
  std::uint32_t piece = 64u << 10;
  /// Not writable while so many messages wait to be sent; at least 1. The system's lanes have as
  /// many for themselves; more of those end the link.
  std::uint32_t queue_messages = 4096;
  /// As above, in bytes, of messages that are not large (`large_message`). The last message that is
  /// taken may be larger than the room that is left; the system's lanes have `largest` more. Of
  /// large messages twice `partial_bytes` may wait.
  std::uint32_t queue_bytes = 8u << 20;
  /// Messages that are under way in pieces at a time; the system's lanes have as many again.
  std::uint32_t partial_messages = 64;
  /// As above, bytes of them; at least `largest`, whatever is said here. Twice as much is received.
  std::uint32_t partial_bytes = 64u << 20;
  /// How long a message waits for its next piece, where pieces can be lost.
  base::duration expiry = base::duration::seconds(2);
};

/// What `slicing` has seen, since the link began.
struct slicing_counters {
  std::uint64_t cut = 0;            ///< messages that were sent in pieces
  std::uint64_t pieces = 0;         ///< the pieces that were sent of them
  std::uint64_t joined = 0;         ///< messages that came in pieces, and whole
  std::uint64_t repeated = 0;       ///< pieces that brought nothing new: dropped
  std::uint64_t stale = 0;          ///< pieces of messages that are over: dropped
  std::uint64_t malformed = 0;      ///< what is no piece, or contradicts another one: dropped
  std::uint64_t expired = 0;        ///< messages given up because their next piece did not come
  std::uint64_t evicted = 0;        ///< messages given up to make room
  std::uint64_t abandoned = 0;      ///< messages given up because a piece is known to be lost
  std::uint64_t queued = 0;         ///< messages that wait to be sent, now
  std::uint64_t queued_bytes = 0;   ///< and their bytes
  std::uint64_t partial = 0;        ///< messages that have come in part, now
  std::uint64_t partial_bytes = 0;  ///< and what is allocated for them

  /// See layer/layer.hpp.
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
