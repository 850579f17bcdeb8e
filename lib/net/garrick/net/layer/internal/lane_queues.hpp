// Messages that wait to be sent, in order in their lanes, which take turns.
//
// A turn is a whole message, or a piece of one. The system's lanes always come first, 0 before 255.
// A large message begins only if the limits allow it beside others; until then its lane is skipped.
//
// Invariants:
//   Q1  turns_ holds each ordinary lane that has messages once, and no other.
//   Q2  A lane's first message alone may be under way: `begun` is true from its first piece until
//       its last one is taken.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "garrick/net/layer/layer.hpp"

namespace garrick::net::internal {

/// The limits of messages under way at a time in ordinary lanes. The system's lanes have the same
/// limits for themselves.
struct under_way_limits {
  std::size_t messages = 0;
  std::uint64_t bytes = 0;
};

/// The next packet to go down: a whole message, or a piece of one.
struct turn {
  outgoing m;               ///< without a header
  bool is_whole = false;    ///< otherwise the fields below describe the piece
  std::uint32_t id = 0;     ///< of the message
  std::uint32_t total = 0;  ///< the message's bytes
  std::uint32_t offset = 0;
  bool is_first = false;  ///< of its message
};

/// The queues of one link.
class lane_queues {
 public:
  explicit lane_queues(under_way_limits limits) noexcept : limits_(limits) {}

  void push(outgoing m);
  [[nodiscard]] bool empty() const noexcept { return used_[0].messages + used_[1].messages == 0; }
  [[nodiscard]] bool lane_empty(lane_number lane) const noexcept;
  /// Returns how many messages wait, or are under way, in reserved or in ordinary lanes.
  [[nodiscard]] std::uint64_t messages(bool reserved) const noexcept {
    return used_[reserved ? 1 : 0].messages;
  }
  [[nodiscard]] std::uint64_t bytes(bool reserved) const noexcept {
    return used_[reserved ? 1 : 0].bytes;
  }
  /// Returns the bytes of large messages in ordinary lanes.
  [[nodiscard]] std::uint64_t large_bytes() const noexcept { return large_bytes_; }
  /// Takes the next packet: a message of up to `whole` bytes, or `piece` bytes of a larger one.
  /// Returns false if there is none, or none may begin.
  [[nodiscard]] bool take(turn& t, std::size_t whole, std::size_t piece);

 private:
  struct lane_queue {
    std::list<outgoing> messages;
    std::uint32_t offset = 0;
    std::uint32_t id = 0;
    bool begun = false;
  };
  static constexpr std::size_t lanes_in_page = 16;
  using page = std::array<lane_queue, lanes_in_page>;
  struct sum {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] lane_queue& queue(lane_number lane);
  [[nodiscard]] bool may_go(lane_number lane, std::size_t whole);
  void take_from(lane_number lane, turn& t, std::size_t whole, std::size_t piece);
  void take_piece(lane_number lane, turn& t, std::size_t piece);
  void count(lane_number lane, std::size_t size, bool is_new) noexcept;
  void push_turn(lane_number lane) noexcept;
  [[nodiscard]] lane_number pop_turn() noexcept;

  under_way_limits limits_;
  std::array<std::unique_ptr<page>, 256 / lanes_in_page> pages_;
  std::array<lane_number, 256> turns_{};  ///< a ring
  std::size_t first_turn_ = 0;
  std::size_t turn_count_ = 0;
  std::array<sum, 2> used_{};       ///< of ordinary lanes, and of the others
  std::uint64_t large_bytes_ = 0;   ///< of used_[0], those of large messages
  std::array<sum, 2> under_way_{};  ///< the same of begun messages, with their whole bytes
  std::uint32_t next_id_ = 0;
};

}  // namespace garrick::net::internal
