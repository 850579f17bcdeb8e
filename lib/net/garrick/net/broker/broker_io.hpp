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
// What happens comes as messages (events.hpp). Any actor may have a broker_io as a member; its
// protocol, or behavior, then has those messages in it, and its mailbox must not be bounded, for a
// message that is dropped is a piece of a stream.
//
// Guarantees: a stream's bytes come in order, each once. `write` takes all or nothing, and what it
// has taken is sent in its order, as long as the connection stands. While the broker holds more
// messages or blocks of a stream than its settings allow, nothing is read from it, so the other end
// has to wait. What is written beyond `transport.high_water` makes `writable` false until
// `writable_again`; meanwhile `write` is an error beyond `transport.most_queued`. When the object
// goes, all its sockets are closed, and what was written before is sent, within
// `transport.close_limit`. What was only put is not.
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

/// A connection on its way from one broker to another: see `broker_io::release`. Who drops it
/// closes it.
class bound_connection {
 public:
  using garrick_sendable = void;

  bound_connection(bound_connection&&) noexcept = default;
  /// Closes the own one first.
  bound_connection& operator=(bound_connection&& o) noexcept;
  ~bound_connection();

  /// The place of its thread, which is the best one for its broker.
  [[nodiscard]] broker_place place() const noexcept;

 private:
  friend class broker_io;
  bound_connection(broker_threads& threads, std::shared_ptr<internal::connection_entry> e) noexcept
      : threads_(&threads), entry_(std::move(e)) {}
  broker_threads* threads_;
  std::shared_ptr<internal::connection_entry> entry_;
};

/// See above.
class broker_io {
 public:
  /// The sockets of this actor.
  broker_io(core::actor_base& me, broker_place where);
  /// Closes all.
  ~broker_io();
  broker_io(const broker_io&) = delete;
  broker_io& operator=(const broker_io&) = delete;

  /// Lets others connect, to a TCP port or a Unix domain socket: "tcp://127.0.0.1:0",
  /// "unix:///run/x". Each that does is a `new_connection`. Errors: those of `net::listen`, also if
  /// a setting is not what it may be; `net_errc::bad_endpoint` for a text that is none, and for
  /// UDP. A name is looked up on this thread, which may take seconds in which all its sockets wait:
  /// give an address.
  [[nodiscard]] base::result<acceptor_handle> listen(std::string_view at,
                                                     const socket_settings& s = {});
  /// Connects. The answer is a `new_connection` of this handle, or `connection_closed`. What is
  /// written before is sent when the stream stands. Errors: as `listen`, those of `net::connect`.
  [[nodiscard]] base::result<connection_handle> connect(std::string_view to,
                                                        const socket_settings& s = {});
  /// A socket for datagrams: "udp://127.0.0.1:0". Errors, and names: as `listen`.
  [[nodiscard]] base::result<datagram_handle> bind(std::string_view at,
                                                   const socket_settings& s = {});

  /// Where an acceptor listens, with the port that the system has chosen; `endpoint()`: it is not
  /// this broker's.
  [[nodiscard]] endpoint local(const acceptor_handle& a) const;
  /// Where a socket for datagrams is; as above.
  [[nodiscard]] endpoint local(const datagram_handle& d) const;

  // Errors of all that follows: `net_errc::denied` if the socket is not this broker's,
  // `net_errc::connection_lost` if it is over or was closed.

  /// Reads in this way from the next message on: those that are in the mailbox are as they are.
  /// Error: `errc::invalid_setting` for no bytes, or for more than a block has if it is not
  /// `at_most`.
  base::result<void> read(const connection_handle& c, const receive_policy& how);
  /// Sends a copy of the bytes, after those of `put`. Errors, and nothing was taken:
  /// `net_errc::overload`, more bytes would wait than `transport.most_queued`, or more writes for
  /// who is in the connection than `transport.most_waiting`, and `writable_again` will come;
  /// `too_large`, these alone are more than `most_queued`. `connection_lost` comes once it is known
  /// that nobody takes them; what was taken before may be lost, too.
  [[nodiscard]] base::result<void> write(const connection_handle& c,
                                         std::span<const std::byte> bytes);
  /// The same of characters.
  [[nodiscard]] base::result<void> write(const connection_handle& c, std::string_view text) {
    return write(c, std::as_bytes(std::span(text)));
  }
  /// Gathers a copy of the bytes, until `flush` or `write`. Errors: `net_errc::overload`, more than
  /// `transport.most_queued` would be gathered.
  [[nodiscard]] base::result<void> put(const connection_handle& c,
                                       std::span<const std::byte> bytes);
  /// The same of characters.
  [[nodiscard]] base::result<void> put(const connection_handle& c, std::string_view text) {
    return put(c, std::as_bytes(std::span(text)));
  }
  /// Sends what was gathered. After `net_errc::overload` it is still gathered.
  [[nodiscard]] base::result<void> flush(const connection_handle& c);
  /// False: above the high-water mark, and `writable_again` will come; or not this broker's.
  [[nodiscard]] bool writable(const connection_handle& c) const;
  /// Sends one datagram to an address, which is no name. It may get lost. Errors:
  /// `net_errc::bad_endpoint`, `too_large`, `overload` if the system has no room for it, `io`.
  base::result<void> send_to(const datagram_handle& d, const endpoint& to,
                             std::span<const std::byte> bytes);

  /// Closes a connection, once what was written or put is sent, or `transport.close_limit` is
  /// over. One that does not stand yet has that time to do so, if there is something to send. No
  /// `connection_closed` comes; messages that are in the mailbox still do.
  base::result<void> close(const connection_handle& c);
  /// Lets nobody in any more. `acceptor_closed` comes. To close it again is no error.
  base::result<void> close(const acceptor_handle& a);
  /// No more datagrams, but for those in the mailbox. To close it again is no error.
  base::result<void> close(const datagram_handle& d);

  /// Gives a connection away. What is in this actor's mailbox stays with it, as does what comes
  /// until the next owner has adopted it; a connection that was never told to read has nothing.
  [[nodiscard]] base::result<bound_connection> release(const connection_handle& c);
  /// Takes a connection over. If it is over, or the last owner was told its end,
  /// `connection_closed` comes. One that was moved from gives the empty handle.
  connection_handle adopt(bound_connection c);

  /// Where this broker's sockets live.
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
