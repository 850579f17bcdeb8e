// A base class for brokers: an actor with sockets.
//
//   class echo : public net::broker<void(stop)> {
//    public:
//     explicit echo(net::broker_place where) : broker(where) { … io().listen(…) … }
//     using broker::on;                       // ignores the events that are not handled here
//     void on(stop) { quit(); }
//     void on(const net::new_data& d) { … }
//   };
//
// Thread safety: the actor's own turn only.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/spawn.hpp>
#include <garrick/net/broker/broker_io.hpp>

#include <utility>

namespace garrick::net {

/// An event of a broker's sockets.
template <class E>
concept socket_event = std::is_same_v<E, new_connection> || std::is_same_v<E, new_data> ||
                       std::is_same_v<E, connection_closed> || std::is_same_v<E, acceptor_closed> ||
                       std::is_same_v<E, new_datagram> || std::is_same_v<E, writable_again>;

/// The protocol of a broker: these further signatures, and the events.
template <class... Signatures>
using broker_protocol =
    core::protocol<Signatures..., void(new_connection), void(new_data), void(connection_closed),
                   void(acceptor_closed), void(new_datagram), void(writable_again)>;

/// An actor with sockets; see the opening comment.
template <class... Signatures>
class broker : public core::actor<broker_protocol<Signatures...>> {
 public:
  /// Ignores an event for which the derived class has no handler.
  template <socket_event E>
  void on(const E&) {}

  /// Returns the sockets.
  [[nodiscard]] broker_io& io() noexcept { return io_; }

 protected:
  /// Makes a broker without sockets. Its sockets will live at `where`.
  explicit broker(broker_place where) : io_(*this, where) {}
  ~broker() = default;

  /// Spawns a broker B on the connection's own thread, and gives it the connection. B's constructor
  /// gets a `bound_connection`, which it adopts, and the arguments. Returns B's handle. Errors:
  /// those of `broker_io::release`.
  ///
  ///     void on(const net::new_connection& n) { fork<session>(n.connection, room_).value(); }
  template <class B, class... Args>
  base::result<core::ref<typename B::protocol_type>> fork(const connection_handle& c,
                                                          Args&&... args) {
    base::result<bound_connection> bound = io_.release(c);
    if (!bound) return bound.error();
    const broker_place there = bound->place();
    return this->template spawn<B>(there.threads().on(*there.thread()), *std::move(bound),
                                   std::forward<Args>(args)...);
  }

 private:
  broker_io io_;
};

}  // namespace garrick::net
