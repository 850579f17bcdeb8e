// What carries bytes, and who gets them: the border between transports and stacks.
//
// A transport is a class that implements `carrier` and calls a `carried`, usually a stack
// (stack/any_link.hpp). It may carry datagrams or a stream of bytes; which of them, the stack knows
// at compile time, and the transport says it (`carries`). An extension point: a new transport needs
// nothing else.
//
// Thread safety: the two call each other on one thread at a time.
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

/// What a transport is, and what a stack stands on.
enum class carrier_kind : std::uint8_t {
  stream,    ///< bytes in order, without borders: TCP, Unix domain sockets
  datagrams  ///< messages that may be lost, or come twice or late: UDP
};

/// Where a stream's next bytes go.
struct receive_room {
  std::span<std::byte> bytes;         ///< at least one
  std::shared_ptr<const void> owner;  ///< keeps them, also when the link is over
};

/// What carries a link's bytes.
class carrier {
 public:
  /// Sends bytes: one datagram, or the next bytes of a stream. Takes them always. A carrier that
  /// holds too many bytes, or has taken many without a pause for other senders, is not `writable`
  /// until it calls `carried::carrier_writable`. Bytes that are sent without a connection are
  /// dropped. Must not call the stack before it returns.
  virtual void transmit(packet bytes) = 0;
  /// True if it takes more.
  [[nodiscard]] virtual bool writable() const = 0;
  /// False if it is known that what is transmitted now is dropped, as after a connection was
  /// broken, of which there is still something to read.
  [[nodiscard]] virtual bool sends() const { return true; }
  /// Bytes of a datagram that the path takes, at most, as far as is known; of a stream, any number.
  [[nodiscard]] virtual std::size_t largest() const = 0;
  /// Opens the transport again, after `carried::disconnected`. Answers with `carried::connected` or
  /// `carried::disconnected`, later. A transport that only others can open does nothing.
  virtual void reopen() = 0;
  /// Tries another connection beside the one that stands, and keeps that one. The calls come later:
  /// `carried::greeting` when the other connection stands, `carried::answered` for what comes by
  /// it, and, if that says so, `disconnected`, `connected` and `receive` when it takes the place of
  /// the first. A connection beside that fails, or brings no answer, is closed without a word.
  /// Does nothing if there is no connection or one beside it already, and in a transport that
  /// cannot do it.
  virtual void reopen_beside() {}
  /// `carried::room` has something again: reads on. Does nothing if it reads, or never stopped.
  virtual void read_on() {}
  /// Bytes that were transmitted and wait, as far as is known.
  [[nodiscard]] virtual std::size_t queued() const { return 0; }
  /// What it carries, if it says so: then `named_stack::make` refuses a stack for another kind.
  [[nodiscard]] virtual std::optional<carrier_kind> carries() const { return {}; }
  /// Closes it for good; what was taken before is still sent if that is possible. Calls nothing.
  virtual void close() = 0;
  /// True from `close` on. A stack looks at it before it passes a message to its owner, who may
  /// have closed the carrier in the middle of a call. One that always says no must not be closed
  /// so.
  [[nodiscard]] virtual bool is_closed() const { return false; }

 protected:
  carrier() = default;
  ~carrier() = default;
  carrier(const carrier&) = default;
  carrier& operator=(const carrier&) = default;
};

/// Who gets the bytes.
class carried {
 public:
  /// The transport carries bytes from now on. The first call of all; of datagrams, too.
  virtual void connected(base::instant now) = 0;
  /// It does not any more, for this reason.
  virtual void disconnected(const base::error& why, base::instant now) = 0;
  /// A connection beside the one that stands is there (`carrier::reopen_beside`). Returns the first
  /// bytes that are sent by it; none: nobody wants it any more.
  [[nodiscard]] virtual packet greeting(base::instant) { return {}; }
  /// All that has come so far by the connection beside, of which nothing is kept here: if it
  /// `takes` the other one's place, `receive` brings the same bytes again.
  [[nodiscard]] virtual beside answered(std::span<const std::byte>, base::instant) {
    return beside::drops;
  }
  /// Bytes have come: one datagram, or some bytes of a stream. They are lent until this returns. At
  /// an instant this comes first, then `advance`.
  virtual void receive(std::span<const std::byte> bytes, base::instant now) = 0;
  /// True: this object says with `room` where a stream's bytes are read to. Asked once, for it is
  /// always the same.
  [[nodiscard]] virtual bool has_room() const { return false; }
  /// Where the next bytes are read to, and received from; nothing: none are read until
  /// `carrier::read_on`. Nobody else writes there until they are received, or `owner` is the last
  /// who keeps them.
  [[nodiscard]] virtual std::optional<receive_room> room() { return {}; }
  /// The other end of a stream sends no more. True: what is transmitted still goes to it, until
  /// `carrier::close`, or `disconnected` if that fails. False: the connection is lost.
  [[nodiscard]] virtual bool input_ended(base::instant) { return false; }
  /// The carrier is writable again.
  virtual void carrier_writable(base::instant now) = 0;
  /// The transport has come to its end for this reason, without `carrier::close`: nothing is called
  /// any more, and what is transmitted goes nowhere. A stack reports what is open.
  virtual void over(const base::error&, base::instant) {}
  /// The path's largest datagram has changed.
  virtual void path_changed(std::size_t largest, base::instant now) = 0;
  /// When `advance` is to be called, at the latest. Asked again after each other call.
  [[nodiscard]] virtual base::instant deadline() const = 0;
  /// The time has come.
  virtual void advance(base::instant now) = 0;

 protected:
  carried() = default;
  ~carried() = default;
  carried(const carried&) = default;
  carried& operator=(const carried&) = default;
};

}  // namespace garrick::net
