// Messages that the owner of a link sends while its stack calls it (S1 in stack.hpp): kept in order
// until the outermost call ends.
//
// Private: installed because templates need it.
//
// Thread safety: none; each stack has its own.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "garrick/net/layer/layer.hpp"

namespace garrick::net::detail {

/// The messages that one call keeps. Messages of the system's lane and all others have a limit
/// each.
class kept_messages {
 public:
  /// Returns true if there is room for another message that is not of the system's lane.
  [[nodiscard]] bool has_room() const noexcept { return sizes_[1].has_room(); }
  /// Keeps the message and returns true; without room for it returns false, and `m` is unchanged.
  /// Throws std::bad_alloc.
  [[nodiscard]] bool keep(outgoing&& m) {
    amount& all = sizes_[m.lane == system_lane ? 0 : 1];
    if (!all.has_room()) return false;
    ++all.messages;
    all.bytes += m.bytes.size();
    list_.push_back(std::move(m));
    return true;
  }

  /// Returns true if no message was kept since `clear`, taken or not.
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  /// Returns true if a message was not taken yet.
  [[nodiscard]] bool has_next() const noexcept { return next_ < list_.size(); }
  /// Returns the oldest message that was not taken yet. Its size counts until `clear`.
  [[nodiscard]] outgoing take_next() { return std::move(list_[next_++]); }
  /// Forgets all messages and their sizes.
  void clear() noexcept {
    list_.clear();
    next_ = 0;
    sizes_ = {};
  }

 private:
  /// The most messages that the owner may send within one call.
  static constexpr std::size_t most_kept = 1024;
  /// The most bytes of them; the last one may be larger than the remaining room.
  static constexpr std::size_t most_kept_bytes = std::size_t{1} << 20;

  struct amount {
    std::size_t messages = 0, bytes = 0;
    [[nodiscard]] bool has_room() const noexcept {
      return messages < most_kept && bytes < most_kept_bytes;
    }
  };

  std::vector<outgoing> list_;
  std::size_t next_ = 0;
  std::array<amount, 2> sizes_{};  // of the system's lane, and of all others
};

}  // namespace garrick::net::detail
