// An actor's sockets: raw bytes in and out (paper 001 §5.5).
//
//   class echo : public net::broker<> {
//    public:
//     echo(net::broker_place where, const std::string& at) : broker(where) {
//       door_ = io().listen(at, {.read = net::receive_policy::at_most(4096)}).value();
//     }
//     using broker::on;
//     void on(const net::new_data& d) { io().write(d.connection, d.bytes.bytes()).value(); }
//
//    private:
//     net::acceptor_handle door_;
//   };
//
// Events arrive as messages (events.hpp). Any actor may have a broker_io as a member. Its protocol,
// or its behavior, must contain those messages, and its mailbox must not be bounded, because a
// dropped message is a lost piece of a stream.
//
// Guarantees: a stream's bytes arrive in order, each once. `write` takes all bytes or none, and
// accepted bytes are sent in order as long as the connection is open. While the broker holds as
// many messages or blocks of a stream as its settings allow, the stream is not read, so the other
// end has to wait. Bytes beyond `transport.high_water` make `writable` false until
// `writable_again`; beyond `transport.most_queued` `write` fails. The destructor closes all
// sockets, and bytes that were written before are sent within `transport.close_limit`. Bytes that
// were only `put` are lost.
//
// Thread safety: the actor's own turn only.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/core/actor.hpp>
#include <garrick/net/broker/broker_threads.hpp>
#include <garrick/net/broker/events.hpp>
#include <garrick/net/broker/handles.hpp>
#include <garrick/net/broker/receive_policy.hpp>
#include <garrick/net/broker/socket_settings.hpp>
#include <garrick/net/transport/endpoint.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace garrick::net {

namespace internal {
class broker_core;
struct connection_entry;
}  // namespace internal

/// A connection on its way from one broker to another (`broker_io::release`). Its destructor closes
/// the connection unless a broker has adopted it.
class bound_connection {
 public:
  using garrick_sendable = void;

  bound_connection(bound_connection&&) noexcept = default;
  /// Closes this object's connection first, then takes that of `o`.
  bound_connection& operator=(bound_connection&& o) noexcept;
  ~bound_connection();

  /// Returns the place of the connection's thread: the best place for the broker that adopts it.
  [[nodiscard]] broker_place place() const noexcept;

 private:
  friend class broker_io;
  bound_connection(broker_threads& threads, std::shared_ptr<internal::connection_entry> e) noexcept
      : threads_(&threads), entry_(std::move(e)) {}
  broker_threads* threads_;
  std::shared_ptr<internal::connection_entry> entry_;
};

/// The sockets of one actor; see the opening comment.
class broker_io {
 public:
  /// Makes a set of sockets, empty at first, for the actor `me`. Throws std::invalid_argument if
  /// its mailbox is bounded (`spawn_options::policy`): the spawn of such a broker fails with
  /// `errc::spawn_failed` and the text of the exception.
  broker_io(core::actor_base& me, broker_place where);
  /// Closes all sockets.
  ~broker_io();
  broker_io(const broker_io&) = delete;
  broker_io& operator=(const broker_io&) = delete;

  /// Accepts connections at a TCP port or a Unix domain socket: "tcp://127.0.0.1:0",
  /// "unix:///run/x". Each one arrives as a `new_connection`. Blocks for seconds if `at` is a name,
  /// which this thread looks up while all its sockets wait; prefer an address. Returns the handle
  /// of the acceptor. Errors: those of `net::listen`, also for a wrong setting;
  /// `net_errc::bad_endpoint` for a text that is not an endpoint, and for UDP.
  [[nodiscard]] base::result<acceptor_handle> listen(std::string_view at,
                                                     const socket_settings& s = {});
  /// Begins to connect, and returns the handle of the connection. A `new_connection` with this
  /// handle follows, or `connection_closed`. Bytes that are written before that are sent when the
  /// stream is established. Errors: those of `net::connect`; `net_errc::bad_endpoint` for the texts
  /// that `listen` refuses with it.
  [[nodiscard]] base::result<connection_handle> connect(std::string_view to,
                                                        const socket_settings& s = {});
  /// Opens a socket for datagrams, "udp://127.0.0.1:0", and returns its handle. Each datagram
  /// arrives as a `new_datagram`. A name blocks as it does in `listen`. Errors: those of `listen`,
  /// but `net_errc::bad_endpoint` for a stream's endpoint.
  [[nodiscard]] base::result<datagram_handle> bind(std::string_view at,
                                                   const socket_settings& s = {});

  /// Returns the address at which an acceptor listens, with the port that the system has chosen;
  /// `endpoint()` if the acceptor is not this broker's.
  [[nodiscard]] endpoint local(const acceptor_handle& a) const;
  /// Returns the address of a socket for datagrams, under the same conditions.
  [[nodiscard]] endpoint local(const datagram_handle& d) const;

  // Errors of all functions below: `net_errc::denied` if the socket is not this broker's, and
  // `net_errc::connection_lost` if it is over or closed, unless a function says otherwise.

  /// Sets the policy from the next message on; messages in the mailbox stay as they are. Returns an
  /// error if the policy was not set: `errc::invalid_setting` for zero bytes, or for more than a
  /// block holds if the policy is not `at_most`.
  base::result<void> read(const connection_handle& c, const receive_policy& how);
  /// Sends a copy of the bytes, after those of `put`. Returns an error if none of them was taken:
  /// `net_errc::overload` if `transport.high_water` bytes or more wait and these bytes would make
  /// them exceed `transport.most_queued`, or if more writes than `transport.most_waiting` would
  /// wait; `writable_again` follows. `too_large` if these bytes and those of `put` exceed
  /// `most_queued`, even if nothing waits. `connection_lost` once the other end is known to take
  /// nothing; earlier bytes may be lost, too.
  [[nodiscard]] base::result<void> write(const connection_handle& c,
                                         std::span<const std::byte> bytes);
  /// The same for characters.
  [[nodiscard]] base::result<void> write(const connection_handle& c, std::string_view text) {
    return write(c, std::as_bytes(std::span(text)));
  }
  /// Gathers a copy of the bytes, until `flush` or `write`. Returns an error if none of them was
  /// taken: `net_errc::overload` if more than `transport.most_queued` bytes would be gathered.
  [[nodiscard]] base::result<void> put(const connection_handle& c,
                                       std::span<const std::byte> bytes);
  /// The same for characters.
  [[nodiscard]] base::result<void> put(const connection_handle& c, std::string_view text) {
    return put(c, std::as_bytes(std::span(text)));
  }
  /// Sends the gathered bytes. Returns the errors of `write`; the bytes are still gathered then.
  [[nodiscard]] base::result<void> flush(const connection_handle& c);
  /// Returns false from the high-water mark on, or after an `overload`; then `writable_again` will
  /// come. Returns false, too, for a connection that is over, closed, or not this broker's.
  [[nodiscard]] bool writable(const connection_handle& c) const;
  /// Sends one datagram to an address; a name is refused. The datagram may get lost. Returns an
  /// error if it was not sent: `net_errc::bad_endpoint`, `too_large`, `overload` if the system has
  /// no room for it, `io`.
  base::result<void> send_to(const datagram_handle& d, const endpoint& to,
                             std::span<const std::byte> bytes);

  /// Closes a connection once all written and put bytes are sent, or `transport.close_limit` has
  /// passed. If there are bytes to send, a connection that is not established yet has that time to
  /// be established. No `connection_closed` follows; messages in the mailbox are still handled.
  base::result<void> close(const connection_handle& c);
  /// Stops accepting connections; `acceptor_closed` follows. Closing an acceptor again is not an
  /// error.
  base::result<void> close(const acceptor_handle& a);
  /// Closes the socket. Datagrams in the mailbox are still handled. Closing it again is not an
  /// error.
  base::result<void> close(const datagram_handle& d);

  /// Gives a connection away: sends the gathered bytes, and returns the connection for the next
  /// owner to `adopt`. Messages of the connection in this actor's mailbox stay there, and more may
  /// arrive until the next owner has adopted the connection; a connection that never had a `read`
  /// policy has no messages with bytes. Errors: those of `flush`.
  [[nodiscard]] base::result<bound_connection> release(const connection_handle& c);
  /// Takes a connection over and returns its handle. If the connection has ended,
  /// `connection_closed` follows, also if its last owner has got that event. Returns the empty
  /// handle for a moved-from `bound_connection`.
  connection_handle adopt(bound_connection c);

  /// Returns the place of this broker's sockets.
  [[nodiscard]] const broker_place& place() const noexcept { return where_; }

 private:
  template <class Entry, class Handle>
  [[nodiscard]] base::result<std::shared_ptr<Entry>> own(const Handle& h) const;
  [[nodiscard]] socket_settings placed(const socket_settings& s) const;
  [[nodiscard]] core::any_ref myself() const;

  const core::address me_;
  const broker_place where_;
  const std::shared_ptr<internal::broker_core> core_;
};

}  // namespace garrick::net
