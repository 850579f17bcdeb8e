// Packets of a stream that wait for the socket. The queue has no limit of its own: stream_host has.
//
// A call of the system has a cost for each piece of memory that it is given, and a small packet
// lies in a cache line of its own that was not touched for a while. For this reason small packets
// that arrive while others wait are copied behind each other. The first packet is not copied: on an
// idle link it is sent as it is.
//
// Invariant:
//   Q1  room_ is the room left in the last packet, which is this queue's own if it is not 0.
//
// Thread safety: none; for the thread that is in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "garrick/net/packet.hpp"

namespace garrick::net::internal {

class send_queue {
 public:
  /// Adds a packet at the end. Throws std::bad_alloc, and then adds nothing.
  void push(packet p) {
    const std::size_t size = p.size();
    if (empty() || size > largest_copied) {
      packets_.push_back(std::move(p));
      room_ = 0;
    } else {
      if (size > room_) {
        packets_.push_back(packet::with_room(0, joined_size));
        room_ = joined_size;
      }
      packets_.back().append(p.bytes());
      room_ -= size;
    }
    bytes_ += size;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == packets_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the waiting packets, the next one first.
  [[nodiscard]] std::span<const packet> waiting() const noexcept {
    return std::span(packets_).subspan(first_);
  }
  /// Drops this many bytes from the front, and packets that are empty by then.
  void sent(std::size_t n) noexcept {
    bytes_ -= n;
    while (first_ != packets_.size() && n >= packets_[first_].size()) {
      n -= packets_[first_].size();
      packets_[first_++] = packet();
    }
    if (n != 0) packets_[first_].drop_front(n);
    if (first_ == packets_.size()) {
      clear();
    } else if (first_ > packets_.size() / 2 && first_ > fewest_moved) {
      packets_.erase(packets_.begin(), packets_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }
  void clear() noexcept {
    packets_.clear();
    if (packets_.capacity() > most_kept) packets_.shrink_to_fit();
    first_ = bytes_ = room_ = 0;
  }

 private:
  static constexpr std::size_t fewest_moved = 64;
  /// Room for packets that an empty queue keeps: a connection at rest must be small.
  static constexpr std::size_t most_kept = 64;
  static constexpr std::size_t largest_copied = 1024;
  static constexpr std::size_t joined_size = std::size_t{16} << 10;
  std::vector<packet> packets_;
  std::size_t first_ = 0;
  std::size_t bytes_ = 0;
  std::size_t room_ = 0;
};

}  // namespace garrick::net::internal
