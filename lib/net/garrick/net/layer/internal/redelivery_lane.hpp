// The state of one lane of `redelivery` (invariants R1 and R2 in redelivery.hpp).
//
// Thread safety: none; a layer's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "garrick/net/layer/internal/kept_bytes.hpp"
#include "garrick/net/layer/internal/pooled.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net::internal {

/// A message that is not known to be in the other end's mailbox.
struct kept_message {
  // The message until it goes down. Over streams it stays here if it is too large for `copies`.
  packet bytes;
  const std::byte* copy = nullptr;  // in `copies`, once the message went down over a stream
  std::uint32_t size = 0;
  std::uint64_t report = 0;
};

/// The messages of one lane, in both directions; numbers count from zero.
struct redelivery_lane {
  /// A message that was passed up and is in no mailbox, or follows such a message.
  struct arrival {
    std::uint32_t size = 0;
    bool there = false;  // in its mailbox
  };
  pooled_deque<kept_message> out;
  kept_bytes copies;
  std::uint64_t acked = 0;
  std::uint64_t next = 0;
  std::uint64_t handed = 0;       // the number that went down at least once
  std::uint64_t known_there = 0;  // the number that the other end says it has received
  pooled_deque<arrival> waiting;
  std::uint64_t received = 0;
  std::uint64_t delivered = 0;
  std::uint64_t told = 0;  // the last count of `delivered` that was sent
  std::size_t place = 0;   // of the lane in redelivery::used_
  [[nodiscard]] std::uint64_t end() const noexcept { return acked + out.size(); }
};

}  // namespace garrick::net::internal
