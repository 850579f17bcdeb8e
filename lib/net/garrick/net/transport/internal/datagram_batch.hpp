// Datagrams, several in one call of the system.
//
// Thread safety: none; `of_this_thread` gives each its own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "garrick/net/packet.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"

namespace garrick::net::internal {

/// The way between a socket and a peer. A socket that is bound to all addresses of this machine
/// answers from the address at which the peer has reached it: the peer takes an answer from no
/// other address.
struct datagram_way {
  socket_address remote;
  socket_address local;  ///< without a port; size 0: the socket's own address

  /// Returns the way as a key. It is not hashed, because senders choose it.
  [[nodiscard]] std::string key() const {
    return std::string(reinterpret_cast<const char*>(&remote.bytes), remote.size)
        .append(reinterpret_cast<const char*>(&local.bytes), local.size);
  }
};

/// The address of this machine at which a datagram came, or from which it goes.
struct alignas(cmsghdr) datagram_control {
  std::array<std::byte, CMSG_SPACE(sizeof(in6_pktinfo))> bytes;
};

/// Room for received datagrams.
class datagram_batch {
 public:
  static constexpr std::size_t most = 16;  ///< datagrams at once

  [[nodiscard]] static datagram_batch& of_this_thread();

  /// Receives the datagrams that have arrived, at most `limit`, and returns their number; 0 and the
  /// system's number in `failed` if there are none. Requires a limit of 1 to `most`.
  [[nodiscard]] std::size_t receive(int fd, int& failed, std::size_t limit = most);
  /// Returns a datagram of the last call. No datagram has more than 65535 bytes.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t i) const noexcept {
    return {room_.get() + i * each, headers_[i].msg_len};
  }
  [[nodiscard]] const datagram_way& way(std::size_t i) const noexcept { return ways_[i]; }

 private:
  static constexpr std::size_t each = 65536;
  std::unique_ptr<std::byte[]> room_ = std::make_unique_for_overwrite<std::byte[]>(most * each);
  std::array<mmsghdr, most> headers_{};
  std::array<iovec, most> parts_{};
  std::array<datagram_way, most> ways_{};
  std::array<datagram_control, most> control_{};
};

/// Sends datagrams in one call, by a way or to the socket's peer. Returns their number; 0 and the
/// system's number in `failed` if the first was not sent.
[[nodiscard]] std::size_t send_datagrams(int fd, std::span<const packet> packets,
                                         const datagram_way* by, int& failed);

}  // namespace garrick::net::internal
