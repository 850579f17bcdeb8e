// The messages that have come in part, for the receiving side of `slicing`.
//
// Bytes without a gap from a message's beginning are joined in one block, which grows with them.
// Pieces that come too early wait beside it, copied as they are. Over a layer that keeps the order,
// an early piece means a loss. No memory is reserved for bytes that a peer only announces.
//
// Where pieces can be lost, messages expire, and the one that has waited longest makes room. A
// message that is over, whole or not, is remembered for a while, so that a late piece does not
// begin it again.
//
// Invariants:
//   J1  all_ is sorted by the time of each message's last new piece, the oldest first.
//   J2  In a message, joined.size() < total, and the pieces in `early` begin beyond joined's end
//       and do not overlap.
//   J3  used_ is the sum over all_ of joined's capacity, early bytes and their overhead.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "garrick/net/layer/internal/growing_bytes.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/layer/slicing_settings.hpp"

namespace garrick::net::internal {

/// A piece as it came.
struct piece {
  lane_number lane = 0;
  std::uint32_t id = 0;
  std::uint32_t total = 0;
  std::uint32_t offset = 0;
  std::span<const std::byte> bytes;
};

/// The result of adding a piece.
enum class verdict : std::uint8_t {
  kept,           ///< its message is not whole yet
  whole,          ///< its message is whole
  repeated,       ///< it has no new bytes
  stale,          ///< its message was passed up or given up before
  lost,           ///< pieces before it never come, so its message is given up
  contradiction,  ///< it cannot be true; its message is given up
  no_room,        ///< beyond the limits, and nothing may be given up
};

/// The incomplete messages of one link.
class partial_messages {
 public:
  explicit partial_messages(const slicing_settings& s) noexcept : settings_(s) {}

  /// Adds a piece; `whole` gets the bytes of a message that it completes. Messages that are given
  /// up for it are counted in `k`.
  [[nodiscard]] verdict add(const piece& p, properties below, base::instant now,
                            growing_bytes& whole, slicing_counters& k);
  /// Gives up all incomplete messages of this lane, which is in order: a later one has begun, so
  /// they never become whole.
  void abandon(lane_number lane, slicing_counters& k) noexcept;
  /// Gives up the messages whose time has come by `now`.
  void expire(base::instant now, slicing_counters& k) noexcept;
  /// Returns the number of incomplete messages; `bytes` returns their memory, with overhead.
  [[nodiscard]] std::size_t messages() const noexcept { return all_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return used_[0] + used_[1]; }
  [[nodiscard]] base::instant deadline() const noexcept {
    return all_.empty() ? base::instant::never() : all_.front().expires;
  }

 private:
  struct message {
    std::uint32_t id = 0;
    std::uint32_t total = 0;
    lane_number lane = 0;
    base::instant expires;
    std::uint64_t used = 0;
    growing_bytes joined;
    std::map<std::uint32_t, std::vector<std::byte>> early;  ///< by offset
  };
  using iterator = std::list<message>::iterator;

  [[nodiscard]] iterator find(std::uint32_t id) noexcept;
  [[nodiscard]] verdict begin(const piece& p, properties below, slicing_counters& k);
  [[nodiscard]] bool evict(bool reserved, iterator but, slicing_counters& k) noexcept;
  [[nodiscard]] bool make_room(std::uint64_t bytes, iterator m, properties below,
                               slicing_counters& k) noexcept;
  [[nodiscard]] verdict place(const piece& p, iterator m, properties below, slicing_counters& k);
  [[nodiscard]] verdict join(const piece& p, iterator m, properties below, slicing_counters& k);
  void use(message& m, std::uint64_t bytes) noexcept;
  void give_back(message& m, std::uint64_t bytes) noexcept;
  void erase(iterator m) noexcept;
  [[nodiscard]] bool is_over(std::uint32_t id) const noexcept;
  void remember(std::uint32_t id) noexcept;

  const slicing_settings settings_;
  std::list<message> all_;
  std::array<std::uint64_t, 2> used_{};  ///< of ordinary lanes, and of 0 and 255
  std::array<std::size_t, 2> count_{};
  std::uint64_t over_ = 0;    ///< a bit for each of the 64 messages up to newest_: it is over
  std::uint32_t newest_ = 0;  ///< the newest message that is over
};

}  // namespace garrick::net::internal
