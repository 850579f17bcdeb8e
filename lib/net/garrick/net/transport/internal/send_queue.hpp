// Packets of a stream that wait for the socket.
//
// Thread safety: none; it is who is in that uses it.
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
  void push(packet p) {
    bytes_ += p.size();
    packets_.push_back(std::move(p));
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == packets_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The packets, the next one first.
  [[nodiscard]] std::span<const packet> waiting() const noexcept {
    return std::span(packets_).subspan(first_);
  }
  /// Drops so many bytes from the front, and packets that are empty by then.
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
    first_ = bytes_ = 0;
  }

 private:
  static constexpr std::size_t fewest_moved = 64;
  static constexpr std::size_t most_kept = 4096;
  std::vector<packet> packets_;
  std::size_t first_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace garrick::net::internal
