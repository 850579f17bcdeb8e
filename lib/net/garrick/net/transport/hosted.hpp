// What lives on an I/O thread, and how others reach it.
//
// A stack is one thread's at a time. Its I/O thread calls it when bytes or the time have come. But
// a worker that has something to send should not have to wake that thread first: it *visits* the
// link. If nobody is in, the visitor is let in at once, on its own thread, and what it sends goes
// to the socket when it leaves. If somebody is in, the visit waits in line, and the I/O thread
// makes it. So nobody ever blocks, and while a link is busy, what is sent meets in one write.
//
// Invariants:
//   H1  One thread at a time is in: the I/O thread with a call from below, or a visitor.
//   H2  Visits of one thread to one link are made in its order.
//   H3  A hosted object is made, called from below, and destroyed on its I/O thread, and never
//       destroyed while somebody is in. `ended` is the last call.
//   H4  It ends when its stack or its owner calls `carrier::close`, when one of its functions
//       throws in a call from below or a visit in line, when it was not admitted in time, or when
//       its I/O thread stops. A connection that is lost does not end it: it may come back.
//   H5  If it was not closed from here, its stack hears why before `ended` (`carried::over`): the
//       owner's link goes `down`, and reports what is open.
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

/// A stack together with what belongs to it: what a transport owns.
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
  /// On the I/O thread, when nobody is in.
  virtual ~hosted() = default;
  hosted(const hosted&) = delete;
  hosted& operator=(const hosted&) = delete;

  /// Who gets the bytes: always the same.
  [[nodiscard]] virtual carried& stack() = 0;
  /// False while the other end has not shown yet who it is, as before `opened`: to be overridden at
  /// the end that listens. A listener has limits for those, and ends them after
  /// `accept_limits::admission`. Asked after each call.
  [[nodiscard]] virtual bool admitted() const { return true; }
  /// The network says something about the way to the peer that anybody may have made up, such as
  /// that nobody listens at a datagram's address. It ends nothing.
  virtual void hint(const base::error&) {}
  /// A burst begins (true) or ends: calls of the stack that follow each other on this thread. What
  /// is cheaper done once may wait for its end. The end is not told if one of the calls throws.
  virtual void burst(bool) {}
  /// The last call, just before the destructor: why it has ended. "No error": it was closed from
  /// here. Must not throw.
  virtual void ended(const base::error&) noexcept {}

 protected:
  hosted() = default;
};

/// What a link's transport has counted.
struct transport_counters {
  std::uint64_t bytes_sent = 0;      ///< bytes that the system took
  std::uint64_t bytes_received = 0;  ///< bytes that were passed up
  std::uint64_t writes = 0;          ///< calls of the system that sent something
  std::uint64_t reads = 0;           ///< calls from below with bytes
  std::uint64_t dropped = 0;   ///< packets that were not sent: there was no connection, or no room
  std::uint64_t connects = 0;  ///< connections that stood
  std::uint64_t hints = 0;     ///< see `hosted::hint`
};

/// What has become of a visit.
enum class visit_result : std::uint8_t {
  made,    ///< it was made
  queued,  ///< it will be made, by the I/O thread, unless the link ends before
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

/// The door of a link.
class entrance {
 public:
  enum class answer : std::uint8_t { entered, busy, over };

  virtual ~entrance() = default;
  /// `entered`: the caller is in until it calls `leave`.
  [[nodiscard]] virtual answer enter() noexcept = 0;
  /// What was sent meanwhile goes out.
  virtual void leave() noexcept = 0;
  /// Takes the visit if it says `queued`. One that is not limited is never `full`.
  [[nodiscard]] virtual visit_result wait_in_line(std::unique_ptr<visit> v, bool limited) = 0;
  /// Only for who is in.
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
  /// No link: it is over.
  connection() = default;
  /// For the framework.
  explicit connection(std::shared_ptr<detail::entrance> to) noexcept : to_(std::move(to)) {}

  /// Calls `f(hosted&)` when nobody else is in: at once on this thread, or later on the I/O thread,
  /// and then `f` is moved there. If the link ends before, `f` is destroyed without a call. Never
  /// blocks. What `f` throws at once leaves this function; thrown later, it ends the link. From
  /// within a call of the same link, the visit is made when that has returned. Throws
  /// std::bad_alloc, and then nothing was done.
  ///
  ///     peer.run([m = std::move(m)](hosted& h) mutable {
  ///       static_cast<session&>(h).send(std::move(m));
  ///     });
  template <class F>
  visit_result run(F f) const {
    return visit(std::move(f), true);
  }
  /// As `run`, however many wait: it is never `full`. For visits of which something else bounds the
  /// number, such as answers to what was asked.
  template <class F>
  visit_result insist(F f) const {
    return visit(std::move(f), false);
  }

  /// True if the link has ended, and no visit will be made any more.
  [[nodiscard]] bool is_over() const noexcept { return !to_ || to_->is_over(); }
  /// True while its transport carries bytes, as far as is known, or was given a connection that it
  /// has yet to take. Datagrams are carried until the link is over.
  [[nodiscard]] bool is_connected() const noexcept { return to_ && to_->is_connected(); }
  /// True if the object there has said at some time that it is `hosted::admitted`. When the link is
  /// over, this does not change any more.
  [[nodiscard]] bool was_admitted() const noexcept { return to_ && to_->was_admitted(); }
  /// What was counted so far. Costs some loads.
  [[nodiscard]] transport_counters counters() const {
    return to_ ? to_->counters() : transport_counters{};
  }
  /// The same link.
  [[nodiscard]] friend bool operator==(const connection&, const connection&) = default;

  /// For the framework: the door.
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
