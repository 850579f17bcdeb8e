// The threads on which links live.
//
// Each has an event loop of its own, and a link stays on one of them. A loop feeds a link the bytes
// that have come before it tells it the time, so that a pause of the process, however long, is not
// charged to the peer.
//
// Invariants:
//   T1  Whatever lives on these threads has ended, and is destroyed, when `stop` returns.
//   T2  `stop` sends what fits into the sockets, and waits only for visitors that are in. A
//       name that is being looked up keeps a detached thread until the system has answered; that
//       thread uses nothing of the link's.
//   T3  "On an I/O thread" is what the rest of this folder says of what the thread's loop does. If
//       the loop is shared (`share_with`), a worker may do it in that thread's place: one thread at
//       a time, and never in the middle of an actor's handler.
//
// Thread safety: all functions on any thread, but `stop` and the destructor not on an I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace garrick::base {
class executor;
}

namespace garrick::net {

namespace internal {
struct io_pool;
}

/// What `io_threads` can be told.
struct io_settings {
  std::size_t threads = 1;  ///< how many; 1 to 1024
  /// Names that are looked up at once, each on a thread beside these; 1 to 1024. Beyond that an
  /// attempt to connect by another name fails with `net_errc::unreachable`. Such a thread may
  /// outlive `stop` until the system has answered, so a shared library that contains Garrick must
  /// not be unloaded (`dlclose`) before that.
  std::size_t lookups = 64;
};

/// Threads for links.
///
///     io_threads io({.threads = 2});
///     auto peer = connect(io, *endpoint::parse("tcp://localhost:4040"), make_session);
class io_threads {
 public:
  /// Starts them. Throws std::system_error if the system has no threads or descriptors, and
  /// std::invalid_argument for a number that is not allowed.
  explicit io_threads(io_settings s = {});
  /// As `stop`.
  ~io_threads();
  io_threads(const io_threads&) = delete;
  io_threads& operator=(const io_threads&) = delete;

  /// Ends all links (`hosted::ended` with `errc::shutting_down`) and listeners, and joins the
  /// threads. In whatever state they are; more than once does no harm, and of several callers at
  /// once each returns when all has ended. In a process that was forked from this one: does
  /// nothing, as the destructor, since the threads are the parent's.
  void stop();
  /// As `stop`, but what closed streams have still to send is sent first, for which each has its
  /// `transport_settings::close_limit`. Requires that nobody closes any meanwhile.
  void finish();
  /// How many threads there are.
  [[nodiscard]] std::size_t size() const noexcept;
  /// How many links, listeners and connections on their way there are on a thread.
  [[nodiscard]] std::size_t load(std::size_t thread) const;

  /// Calls `f()` on a thread, soon. It must not throw. False: the threads have stopped, and `f` is
  /// destroyed. Requires `thread < size()`. Throws std::bad_alloc.
  template <class F>
  bool post(std::size_t thread, F f) {
    struct calls final : task {
      explicit calls(F g) : f_(std::move(g)) {}
      void run() override { f_(); }
      F f_;
    };
    return post_task(thread, std::make_unique<calls>(std::move(f)));
  }

  /// Lets the workers of `who` that have nothing to do wait for events in place of the first
  /// thread, if they know how to (`base::executor::seat`). A message then wakes one thread instead
  /// of two. Once. If these workers wait for other threads' events already, nothing changes. The
  /// executor may end before these threads. Throws std::bad_alloc.
  void share_with(base::executor& who);

  /// For the framework: the loops.
  [[nodiscard]] internal::io_pool& pool() noexcept { return *pool_; }

 private:
  class task {
   public:
    virtual ~task() = default;
    virtual void run() = 0;
  };
  bool post_task(std::size_t thread, std::unique_ptr<task> what);

  [[nodiscard]] bool is_copy() const noexcept;

  const std::uint32_t made_after_;  // so many forks
  std::unique_ptr<internal::io_pool> pool_;
};

}  // namespace garrick::net
