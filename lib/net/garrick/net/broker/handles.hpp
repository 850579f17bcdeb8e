// Names for a broker's sockets. Only `broker_io` makes handles that name something, and only the
// broker that owns a socket can use its handle; others can only compare it.
//
//   const net::acceptor_handle door = io().listen("tcp://127.0.0.1:0").value();
//   std::puts(io().local(door).to_string().c_str());
//
// Thread safety: that of a std::shared_ptr.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

namespace internal {
struct socket_entry;
struct handle_maker;
}  // namespace internal

/// The common part of all kinds of handles. `Kind` keeps them apart.
template <class Kind>
class socket_handle {
 public:
  using garrick_sendable = void;

  /// Makes a handle that names nothing.
  socket_handle() noexcept = default;
  /// Returns false if it names nothing.
  [[nodiscard]] explicit operator bool() const noexcept { return entry_ != nullptr; }
  /// Returns a number for logs, unique in the process; 0 if it names nothing.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// Returns true if both name the same socket.
  [[nodiscard]] friend bool operator==(const socket_handle& a, const socket_handle& b) noexcept {
    return a.id_ == b.id_;
  }
  /// Returns the order of the two `id`s.
  [[nodiscard]] friend std::strong_ordering operator<=>(const socket_handle& a,
                                                        const socket_handle& b) noexcept {
    return a.id_ <=> b.id_;
  }

 private:
  friend struct internal::handle_maker;
  socket_handle(std::shared_ptr<internal::socket_entry> e, std::uint64_t id) noexcept
      : entry_(std::move(e)), id_(id) {}
  std::shared_ptr<internal::socket_entry> entry_;
  std::uint64_t id_ = 0;
};

/// A stream to another process.
using connection_handle = socket_handle<struct connection_kind>;
/// A listening socket.
using acceptor_handle = socket_handle<struct acceptor_kind>;
/// A socket for datagrams.
using datagram_handle = socket_handle<struct datagram_kind>;

}  // namespace garrick::net

template <class Kind>
struct std::hash<garrick::net::socket_handle<Kind>> {
  std::size_t operator()(const garrick::net::socket_handle<Kind>& h) const noexcept {
    return static_cast<std::size_t>(h.id() * 0x9e3779b97f4a7c15ull);
  }
};
