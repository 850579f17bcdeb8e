// Direct calls of the system's sockets for the transports. All sockets are non-blocking and closed
// by exec.
//
// Thread safety: plain functions.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/values/result.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/internal/loop/unique_fd.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net::internal {

/// Returns the error for one of the system's numbers, with its words.
[[nodiscard]] base::error error_of(int number, std::string_view where);
/// Returns the error of an attempt to listen at an address: `address_in_use` or `io`, and never
/// `unreachable`.
[[nodiscard]] base::error error_of_listening(int number, std::string_view where);

/// Returns the address of a path or of a numeric host.
[[nodiscard]] socket_address address_of(const endpoint& e);
/// Returns the endpoint of an address of this kind; a Unix domain socket's is `unnamed`.
[[nodiscard]] endpoint endpoint_of(transport_kind kind, const socket_address& a,
                                   const endpoint& unnamed);
[[nodiscard]] socket_address local_address(int fd);
[[nodiscard]] socket_address remote_address(int fd);
[[nodiscard]] bool same_address(const socket_address& a, const socket_address& b) noexcept;

/// Opens a socket for addresses like this one.
[[nodiscard]] base::result<unique_fd> open_socket(transport_kind kind, const socket_address& like,
                                                  const transport_settings& s);
/// Gives an accepted socket the properties of `open_socket`.
void prepare_accepted(int fd, transport_kind kind) noexcept;
/// Begins to connect. Returns 0 if it is connected, EINPROGRESS if the socket will be writable
/// later.
[[nodiscard]] int start_connect(int fd, const socket_address& to, const transport_settings& s);
/// Returns the outcome of `start_connect`: 0, or the system's number of the error.
[[nodiscard]] int connect_outcome(int fd) noexcept;
/// Checks that the user at the other end of a Unix domain socket is allowed.
[[nodiscard]] base::error check_user(int fd, const transport_settings& s);

/// Listens at an address, or takes datagrams there.
[[nodiscard]] base::result<unique_fd> bind_socket(transport_kind kind, const socket_address& at,
                                                  const transport_settings& s);

/// Appends the addresses of a host by its name, looked up on this thread. Returns 0 or the number
/// of an error, as `getaddrinfo`.
[[nodiscard]] int addresses_of(const std::string& host, std::uint16_t port,
                               std::vector<socket_address>& found);
/// Looks up the addresses of an endpoint, on this thread.
[[nodiscard]] base::result<std::vector<socket_address>> look_up(const endpoint& e);

/// Returns the most connections of a listener that leave the process half of its descriptors.
[[nodiscard]] std::size_t most_accepted() noexcept;

/// The bound file of a Unix domain socket, which is removed when the socket is closed.
class socket_file {
 public:
  socket_file() noexcept = default;
  /// Names the file that was just bound at the path.
  explicit socket_file(std::string path);
  /// Removes the file, if it is still the one that was bound.
  void remove() noexcept;

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Limits the unread bytes of a TCP stream in the system, if the way to the peer is so short that
/// the limit does not slow the stream down. Requires an established connection.
void limit_unread(int fd) noexcept;
/// Has the system probe a TCP connection after so much silence, three times, and give it up then.
/// Does nothing for other sockets.
void keep_alive(int fd, base::duration after) noexcept;
/// Reads bytes of a stream. Returns their number, 0 at its end, or -1 with the system's number in
/// `failed`.
[[nodiscard]] std::ptrdiff_t receive_stream(int fd, std::span<std::byte> into, int& failed);
/// Sends the packets in one call, as far as the socket takes them. Returns the number of bytes of a
/// stream, or -1 with the system's number in `failed`.
[[nodiscard]] std::ptrdiff_t send_stream(int fd, std::span<const packet> packets, int& failed);

/// Returns the largest datagram that goes to this address uncut, as far as the system knows; 0:
/// unknown.
[[nodiscard]] std::size_t path_limit(const socket_address& to) noexcept;

}  // namespace garrick::net::internal
