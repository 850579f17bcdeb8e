// The border between transports and stacks.
//
// A transport is a class that implements `carrier` and calls a `carried`, usually a stack
// (stack/any_link.hpp). It may carry datagrams or a stream of bytes; the stack knows the kind at
// compile time, and the transport reports its own (`carries`). An extension point: a new transport
// needs nothing else.
//
// Thread safety: a transport and its stack call each other on one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/beside.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net {

/// The kind of a transport, and of the transport that a stack needs.
enum class carrier_kind : std::uint8_t {
  stream,    ///< bytes in order, without borders: TCP, Unix domain sockets
  datagrams  ///< messages that may be lost, or arrive twice or late: UDP
};

/// Memory for the next bytes of a stream.
struct receive_room {
  std::span<std::byte> bytes;         ///< at least one
  std::shared_ptr<const void> owner;  ///< keeps the memory, also when the link has ended
};

/// Carries a link's bytes.
///
///     class serial_line final : public carrier {
///       void transmit(packet datagram) override;
///       bool writable() const override { return waits_.size() < high_water; }
///       std::size_t largest() const override { return 1024; }
///       void reopen() override {}   // datagrams have no connection that could be lost
///       void close() override { closed_ = true; }
///       bool is_closed() const override { return closed_; }
///       …
///     };
class carrier {
 public:
  /// Sends one datagram, or the next bytes of a stream. Takes any number. A carrier that holds too
  /// many bytes, or has taken many without a pause for other senders, is not `writable` until it
  /// calls `carried::carrier_writable`. Bytes that are sent without a connection are dropped. Must
  /// not call the stack before it returns.
  virtual void transmit(packet bytes) = 0;
  /// Returns true if the carrier takes more bytes.
  [[nodiscard]] virtual bool writable() const = 0;
  /// Returns false if it is known that sent bytes are dropped, as on a broken connection that still
  /// has bytes to read.
  [[nodiscard]] virtual bool sends() const { return true; }
  /// Returns the most bytes of a datagram that the path takes, as far as known; of a stream, any
  /// number.
  [[nodiscard]] virtual std::size_t largest() const = 0;
  /// Opens the transport again, after `carried::disconnected`. Answers later with
  /// `carried::connected` or `carried::disconnected`. A transport that only the other end can open
  /// does nothing.
  virtual void reopen() = 0;
  /// Tries a second connection beside the present one, which is kept. The stack is called later:
  /// `carried::greeting` when the second connection is established, `carried::answered` for bytes
  /// from it, and, after the verdict `takes`, `disconnected`, `connected` and `receive` when it
  /// takes the place of the first. A second connection that fails, or brings no answer, is closed
  /// silently. Does nothing without a connection, while there is a second one already, and in a
  /// transport that cannot open one.
  virtual void reopen_beside() {}
  /// Has the system ask the other machine whether it is still there after so much silence. Requires
  /// a time above zero. Does nothing without a connection, and in a transport that cannot ask.
  virtual void keep_alive(base::duration) {}
  /// Resumes reading, because `carried::room` has room again. Does nothing if the transport is
  /// reading.
  virtual void read_on() {}
  /// Returns the number of sent bytes that wait, as far as known.
  [[nodiscard]] virtual std::size_t queued() const { return 0; }
  /// Returns the transport's kind, with which `named_stack::make` refuses a stack for another kind;
  /// none if the transport does not report its kind.
  [[nodiscard]] virtual std::optional<carrier_kind> carries() const { return {}; }
  /// Closes the transport for good; bytes that were taken before are still sent if possible. Does
  /// not call the stack.
  virtual void close() = 0;
  /// Returns true from `close` on. A stack tests it before it passes a message to its owner, which
  /// may have closed the carrier in the middle of a call. A carrier that always returns false must
  /// not be closed in the middle of a call.
  [[nodiscard]] virtual bool is_closed() const { return false; }

 protected:
  carrier() = default;
  ~carrier() = default;
  carrier(const carrier&) = default;
  carrier& operator=(const carrier&) = default;
};

/// Receives the bytes of a transport.
class carried {
 public:
  /// Called when the transport can carry bytes. This is the first call of all, also for datagrams.
  /// `disconnected` precedes each further one.
  virtual void connected(base::instant now) = 0;
  /// Called when the transport can carry no more bytes, with the reason.
  virtual void disconnected(const base::error& why, base::instant now) = 0;
  /// Called when a second connection beside the present one is established
  /// (`carrier::reopen_beside`). Returns the first bytes to send by the second connection; none if
  /// it is no longer wanted.
  [[nodiscard]] virtual packet greeting(base::instant) { return {}; }
  /// Returns the verdict on the second connection, given all its bytes so far. Keeps none of them:
  /// if the verdict is `takes`, `receive` brings the same bytes again.
  [[nodiscard]] virtual beside answered(std::span<const std::byte>, base::instant) {
    return beside::drops;
  }
  /// Gets one datagram, or some bytes of a stream. They are lent until the call returns. At a given
  /// instant this call comes before `advance`.
  virtual void receive(std::span<const std::byte> bytes, base::instant now) = 0;
  /// Returns true if `room` provides the memory for a stream's bytes. Asked once; the answer must
  /// not change.
  [[nodiscard]] virtual bool has_room() const { return false; }
  /// Returns the memory for the next bytes; without it no bytes are read until `carrier::read_on`.
  /// The memory is used for nothing else until the bytes are received, or `owner` is its last
  /// reference.
  [[nodiscard]] virtual std::optional<receive_room> room() { return {}; }
  /// Called when the other end of a stream sends no more. Returns true if bytes may still be sent
  /// to that end, until `carrier::close`, or until `disconnected` if sending fails. Returns false
  /// if the connection is lost.
  [[nodiscard]] virtual bool input_ended(base::instant) { return false; }
  /// Called when the carrier is writable again.
  virtual void carrier_writable(base::instant now) = 0;
  /// Called when the transport has ended for this reason, without `carrier::close`. This is the
  /// last call, and bytes that are sent from now on are lost. A stack reports its open messages.
  virtual void over(const base::error&, base::instant) {}
  /// Called when the size of the path's largest datagram has changed.
  virtual void path_changed(std::size_t largest, base::instant now) = 0;
  /// Returns the latest time for the next `advance`. Called again after each other call.
  [[nodiscard]] virtual base::instant deadline() const = 0;
  /// Called when the deadline has passed.
  virtual void advance(base::instant now) = 0;

 protected:
  carried() = default;
  ~carried() = default;
  carried(const carried&) = default;
  carried& operator=(const carried&) = default;
};

}  // namespace garrick::net
