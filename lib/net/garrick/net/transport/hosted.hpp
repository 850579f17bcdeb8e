// The objects on an I/O thread, and the way to them from other threads.
//
// One thread uses a stack at a time. The stack's I/O thread calls it when bytes have arrived or its
// deadline has passed. A worker that has a message to send does not wake that thread first: it
// *visits* the link. If no thread is in the link, the visitor enters at once, on its own thread,
// and its bytes go to the socket when it leaves. Otherwise the visit waits in line, and the I/O
// thread makes it. No thread ever blocks, and while a link is busy, bytes from many senders are
// sent by one write.
//
// Invariants:
//   H1  At most one thread is in a link: the I/O thread with a call from below, or a visitor.
//   H2  Visits of one thread to one link are made in the order in which it asked for them.
//   H3  A hosted object is made, called from below, and destroyed on its I/O thread, and never
//       destroyed while a thread is in. `ended` is the last call.
//   H4  A hosted object ends when its stack or its owner calls `carrier::close`, when one of its
//       functions throws in a call from below or a visit in line, when it was not admitted in time
//       or another newcomer got its place before that, or when its I/O thread stops. A lost
//       connection does not end the object: the connection may come back.
//   H5  If the link was not closed from this end, its stack gets the reason before `ended`
//       (`carried::over`): the owner's link goes `down`, and reports its open messages.
//
// Thread safety: a `connection` may be used on any thread; copies of one name the same link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "garrick/base/memory/block_pool.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/transport/carrier.hpp"

namespace garrick::net {

/// A stack together with its owner: the object that a transport owns.
///
///     class session final : public hosted, link_owner {
///      public:
///       explicit session(carrier& c) : link_(*this, c, framing()) {}
///       carried& stack() override { return link_; }
///       …
///      private:
///       net::stack<byte_stream, framing> link_;
///     };
class hosted {
 public:
  /// Runs on the I/O thread, when no thread is in the link.
  virtual ~hosted() = default;
  hosted(const hosted&) = delete;
  hosted& operator=(const hosted&) = delete;

  /// Returns the stack that gets the bytes: the same one in each call.
  [[nodiscard]] virtual carried& stack() = 0;
  /// Returns false while the identity of the other end is unknown, as before `opened`. Override it
  /// at the end that listens: a listener limits the number of links that are not admitted, and ends
  /// them after `accept_limits::admission`, or before that if a newcomer needs the place. Called
  /// after each other call.
  [[nodiscard]] virtual bool admitted() const { return true; }
  /// Takes a hint of the network about the way to the peer, which any host may have forged, such as
  /// that no socket listens at a datagram's address. A hint does not end the link.
  virtual void hint(const base::error&) {}
  /// Marks the begin (true) or the end (false) of a burst of stack calls on this thread. Work that
  /// is cheaper if it is done once for several calls may wait for the end of the burst. The end is
  /// not marked if one of the calls throws.
  virtual void burst(bool) {}
  /// Takes the reason of the link's end, or no error if the link was closed from this end. This is
  /// the last call, just before the destructor. Must not throw.
  virtual void ended(const base::error&) noexcept {}

 protected:
  hosted() = default;
};

/// Counters of a link's transport.
struct transport_counters {
  std::uint64_t bytes_sent = 0;      ///< bytes that the system took
  std::uint64_t bytes_received = 0;  ///< bytes that were passed up
  std::uint64_t writes = 0;          ///< calls of the system that sent something
  std::uint64_t reads = 0;           ///< calls from below with bytes
  std::uint64_t dropped = 0;   ///< packets that were not sent: there was no connection, or no room
  std::uint64_t connects = 0;  ///< connections that were established
  std::uint64_t hints = 0;     ///< see `hosted::hint`
};

/// The fate of a visit.
enum class visit_result : std::uint8_t {
  made,    ///< it was made
  queued,  ///< the I/O thread will make it unless the link ends before
  full,    ///< too many wait; nothing was done
  over,    ///< the link has ended; nothing was done
};

namespace detail {

/// A visit that waits in line.
class visit {
 public:
  virtual ~visit() = default;
  // Made by workers and destroyed by an I/O thread, at the rate of messages.
  static void* operator new(std::size_t bytes) { return base::block_pool::allocate(bytes); }
  static void operator delete(void* at, std::size_t bytes) noexcept {
    base::block_pool::deallocate(at, bytes);
  }
  virtual void run(hosted& who) = 0;
};

/// The door of a link: lets one thread in at a time.
class entrance {
 public:
  enum class answer : std::uint8_t { entered, busy, over };

  virtual ~entrance() = default;
  /// Enters the link if no thread is in. Returns `entered` if the caller is in, until it calls
  /// `leave`.
  [[nodiscard]] virtual answer enter() noexcept = 0;
  /// Leaves the link, and lets the bytes that were sent meanwhile go out.
  virtual void leave() noexcept = 0;
  /// Puts a visit in line and returns its fate; takes it only if that is `queued`. A visit that is
  /// not limited is never `full`.
  [[nodiscard]] virtual visit_result wait_in_line(std::unique_ptr<visit> v, bool limited) = 0;
  /// Returns the object of the link. Only for the thread that is in.
  [[nodiscard]] virtual hosted& occupant() noexcept = 0;
  [[nodiscard]] virtual transport_counters counters() const = 0;
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  [[nodiscard]] virtual bool is_connected() const noexcept = 0;
  [[nodiscard]] virtual bool was_admitted() const noexcept = 0;
};

struct leaving {
  entrance& from;
  ~leaving() { from.leave(); }
};

}  // namespace detail

/// Names a link on an I/O thread.
class connection {
 public:
  /// Names no link; `is_over` returns true.
  connection() = default;
  /// For the framework: names the link behind this door.
  explicit connection(std::shared_ptr<detail::entrance> to) noexcept : to_(std::move(to)) {}

  /// Calls `f(hosted&)` when no other thread is in the link: at once on this thread, or later on
  /// the I/O thread, to which `f` is then moved. If the link ends before, `f` is destroyed without
  /// a call. Returns the fate of the visit. Never blocks. An exception of `f` leaves this function
  /// if `f` is called at once; later, it ends the link. Within a call of the same link, the visit
  /// is made when that call has returned. Throws std::bad_alloc, and then nothing was done.
  ///
  ///     peer.run([m = std::move(m)](hosted& h) mutable {
  ///       static_cast<session&>(h).send(std::move(m));
  ///     });
  template <class F>
  visit_result run(F f) const {
    return visit(std::move(f), true);
  }
  /// Like `run`, but never `full`, however many visits wait. For visits that are bounded in number
  /// otherwise, such as answers to requests.
  template <class F>
  visit_result insist(F f) const {
    return visit(std::move(f), false);
  }

  /// Returns true if the link has ended, so no visit will be made any more.
  [[nodiscard]] bool is_over() const noexcept { return !to_ || to_->is_over(); }
  /// Returns true while the transport carries bytes, as far as known, or has been given a
  /// connection that it has yet to take. Datagrams are carried until the link has ended.
  [[nodiscard]] bool is_connected() const noexcept { return to_ && to_->is_connected(); }
  /// Returns true if the object was `hosted::admitted` at some time. This does not change any more
  /// when the link has ended.
  [[nodiscard]] bool was_admitted() const noexcept { return to_ && to_->was_admitted(); }
  /// Returns the counters. Costs some loads.
  [[nodiscard]] transport_counters counters() const {
    return to_ ? to_->counters() : transport_counters{};
  }
  /// Returns true if both name the same link.
  [[nodiscard]] friend bool operator==(const connection&, const connection&) = default;

  /// For the framework: returns the door.
  [[nodiscard]] const std::shared_ptr<detail::entrance>& door() const noexcept { return to_; }

 private:
  template <class F>
  visit_result visit(F f, bool limited) const {
    if (!to_) return visit_result::over;
    switch (to_->enter()) {
      case detail::entrance::answer::over: return visit_result::over;
      case detail::entrance::answer::busy: break;
      case detail::entrance::answer::entered: {
        const detail::leaving at_end{*to_};
        f(to_->occupant());
        return visit_result::made;
      }
    }
    struct later final : detail::visit {
      explicit later(F g) : f_(std::move(g)) {}
      void run(hosted& who) override { f_(who); }
      F f_;
    };
    return to_->wait_in_line(std::make_unique<later>(std::move(f)), limited);
  }

  std::shared_ptr<detail::entrance> to_;
};

}  // namespace garrick::net
