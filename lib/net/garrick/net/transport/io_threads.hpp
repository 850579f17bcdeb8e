// The threads on which links run: the I/O threads.
//
// Each thread has an event loop of its own, and a link stays on one thread. A loop passes the bytes
// that have arrived to a link before it tells the link the time, so that a pause of the process,
// however long, is not charged to the peer.
//
// Invariants:
//   T1  All objects on these threads have ended, and are destroyed, when `stop` returns.
//   T2  `stop` sends the bytes that fit into the sockets, and waits only for visitors that are in.
//       A name that is being looked up keeps a detached thread until the system has answered; that
//       thread uses nothing of the link's.
//   T3  "On an I/O thread" means in that thread's loop, here and in the rest of this folder. If the
//       loop is shared (`share_with`), a worker may run it in that thread's place: one thread at a
//       time, and never in the middle of an actor's handler.
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

/// Settings of `io_threads`.
struct io_settings {
  std::size_t threads = 1;  ///< the number of threads; 1 to 1024
  /// The most names that are looked up at once, each on a thread beside these; 1 to 1024. Beyond
  /// that an attempt to connect by another name fails with `net_errc::unreachable`. Such a thread
  /// may outlive `stop` until the system has answered, so a shared library that contains Garrick
  /// must not be unloaded (`dlclose`) before that.
  std::size_t lookups = 64;
};

/// Threads for links.
///
///     io_threads io({.threads = 2});
///     auto peer = connect(io, *endpoint::parse("tcp://localhost:4040"), make_session);
class io_threads {
 public:
  /// Starts the threads. Throws std::system_error if the system has no threads or descriptors, and
  /// std::invalid_argument for a number out of its range.
  explicit io_threads(io_settings s = {});
  /// Stops the threads, as `stop`.
  ~io_threads();
  io_threads(const io_threads&) = delete;
  io_threads& operator=(const io_threads&) = delete;

  /// Ends all links (`hosted::ended` with `errc::shutting_down`) and listeners, in any state, and
  /// joins the threads. May be called several times, also at once: each call returns when all links
  /// have ended. Does nothing in a process that was forked from this one, since the threads are the
  /// parent's; nor does the destructor.
  void stop();
  /// Like `stop`, but first sends the remaining bytes of closed streams, for which each stream has
  /// its `transport_settings::close_limit`. Requires that no stream is closed meanwhile.
  void finish();
  /// Returns the number of threads.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Returns the number of links, listeners and pending connections on a thread.
  [[nodiscard]] std::size_t load(std::size_t thread) const;

  /// Calls `f()` on a thread, soon. Returns false if the threads have stopped; then `f` is
  /// destroyed. Requires `thread < size()`, and that `f` does not throw. Throws std::bad_alloc.
  template <class F>
  bool post(std::size_t thread, F f) {
    struct calls final : task {
      explicit calls(F g) : f_(std::move(g)) {}
      void run() override { f_(); }
      F f_;
    };
    return post_task(thread, std::make_unique<calls>(std::move(f)));
  }

  /// Lets idle workers of `who` wait for events in place of the first thread, if they can
  /// (`base::executor::seat`). A message then wakes one thread instead of two. To be called once.
  /// Changes nothing if these workers wait for other threads' events already. The executor may end
  /// before these threads. Throws std::bad_alloc.
  void share_with(base::executor& who);

  /// For the framework: returns the loops.
  [[nodiscard]] internal::io_pool& pool() noexcept { return *pool_; }

 private:
  class task {
   public:
    virtual ~task() = default;
    virtual void run() = 0;
  };
  bool post_task(std::size_t thread, std::unique_ptr<task> what);

  [[nodiscard]] bool is_copy() const noexcept;

  const std::uint32_t made_after_;  // this many forks
  std::unique_ptr<internal::io_pool> pool_;
};

}  // namespace garrick::net
