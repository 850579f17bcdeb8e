// The entries to which handles point. A broker's sockets and its broker_io share them.
//
// Invariants:
//   B1  A `broker_core` knows every open socket of its broker. Once it has ended, it takes no
//       socket, and the sockets that it had are closed.
//   B2  No handle to an actor is dropped under the lock of a `broker_core`, since that may end the
//       actor.
//
// Thread safety: `broker_core` and the atomics of entries may be used on any thread; the rest of an
// entry is constant or its owner's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "garrick/core/ref.hpp"
#include "garrick/core/send.hpp"
#include "garrick/net/broker/handles.hpp"
#include "garrick/net/broker/socket_settings.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/transport/hosted.hpp"
#include "garrick/net/transport/listener.hpp"

namespace garrick::net::internal {

class datagram_socket;

/// Returns a number that no other socket or broker of the process has.
[[nodiscard]] std::uint64_t next_socket_id() noexcept;

struct socket_entry {
  virtual ~socket_entry() = default;
  /// Closes the socket soon; bytes that were written before are sent.
  virtual void close() noexcept = 0;
  const std::uint64_t id = next_socket_id();
  std::atomic<std::uint64_t> owner{0};  ///< the id of a broker_core; 0: no owner
};

struct connection_entry final : socket_entry {
  void close() noexcept override;
  /// Returns true if these bytes may be queued: there are at most `most_queued`, and they fit or
  /// the queue is below high water. Below high water they are taken even if they and the waiting
  /// bytes exceed `most_queued`: no `writable_again` would follow a refusal there.
  [[nodiscard]] bool takes(std::size_t bytes, std::size_t waiting) const noexcept {
    return bytes <= most_queued && (waiting < high_water || waiting + bytes <= most_queued);
  }
  connection link;  ///< set before another thread has a handle
  std::size_t most_queued = 0;
  std::size_t high_water = 0;
  std::size_t block_size = 0;
  std::size_t thread = 0;               ///< of broker_threads; set no later than `link`
  std::atomic<std::size_t> in_line{0};  ///< bytes of writes that wait for a visitor to leave
  std::atomic<std::size_t> queued{0};   ///< bytes that waited to be sent when this was last set
  std::atomic<bool> full{false};        ///< `writable_again` will come
  packet gathered;                      ///< the bytes of `put`; only the owner uses them
  bool closed = false;                  ///< the owner has closed it; only the owner uses this
};

struct acceptor_entry final : socket_entry {
  void close() noexcept override { door->close(); }
  std::shared_ptr<listener> door;
};

struct datagram_entry final : socket_entry {
  void close() noexcept override;
  std::shared_ptr<datagram_socket> socket;
};

struct handle_maker {
  template <class Kind>
  [[nodiscard]] static socket_handle<Kind> make(std::shared_ptr<socket_entry> e) noexcept {
    const std::uint64_t id = e->id;
    return {std::move(e), id};
  }
  template <class Kind>
  [[nodiscard]] static const std::shared_ptr<socket_entry>& get(const socket_handle<Kind>& h) {
    return h.entry_;
  }
};

/// Sends an event to the broker. Called on an I/O thread or on the broker's thread.
template <class Event>
void tell(const core::any_ref& to, Event e) {
  const core::no_wait_scope scope;
  core::send(to, std::move(e));
}

class broker_core {
 public:
  const std::uint64_t id = next_socket_id();

  /// Adds a socket. Returns false if the broker has ended. `hold` keeps the broker alive while the
  /// socket is known here.
  [[nodiscard]] bool add(const std::shared_ptr<socket_entry>& e, core::any_ref hold);
  /// Forgets a socket. Returns false if it was not known.
  bool remove(std::uint64_t socket);
  /// Returns this socket's reference to the broker; empty if the socket is not known.
  [[nodiscard]] core::any_ref holder(std::uint64_t socket);
  /// Ends the broker: closes all sockets.
  void end() noexcept;

 private:
  struct known {
    std::shared_ptr<socket_entry> entry;
    core::any_ref hold;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, known> sockets_;  // under mutex_
  bool ended_ = false;                      // under mutex_
};

}  // namespace garrick::net::internal
