// I/O threads for brokers: their sockets live there, and brokers may run there.
//
//   net::broker_threads threads;      // before the system, so it ends later
//   actor_system system;
//   auto server = threads.spawn<echo>(system, "tcp://127.0.0.1:4040");
//
// On an I/O thread a broker receives and sends without another thread. While one of its handlers
// runs, other sockets of that thread wait. Spawn a broker that computes or blocks by
// `system.spawn<echo>(net::broker_place(threads), …)` instead: it then runs on the workers.
//
// Thread safety: any thread. Constructor and destructor: one thread, which is no I/O thread.
#pragma once

#include <garrick/core/loop_executor.hpp>
#include <garrick/core/spawn_options.hpp>
#include <garrick/net/transport/io_threads.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace garrick::net {

class broker_threads;

/// The threads for a broker's sockets: the first argument of a broker's constructor.
class broker_place {
 public:
  using garrick_sendable = void;  ///< the threads outlive the system

  /// Puts the sockets on any of these threads.
  explicit broker_place(broker_threads& threads) noexcept : threads_(&threads) {}
  /// Puts the sockets on the given thread.
  broker_place(broker_threads& threads, std::size_t thread) noexcept
      : threads_(&threads), thread_(thread) {}

  /// Returns the threads.
  [[nodiscard]] broker_threads& threads() const noexcept { return *threads_; }
  /// Returns the number of the thread; none if any thread will do.
  [[nodiscard]] std::optional<std::size_t> thread() const noexcept { return thread_; }

 private:
  broker_threads* threads_;
  std::optional<std::size_t> thread_;
};

/// I/O threads for brokers. They must outlive the actor system.
class broker_threads {
 public:
  /// Starts the threads, as the constructor of `io_threads` does.
  explicit broker_threads(io_settings s = {});
  /// Stops the threads when written bytes are sent: a connection that was closed with bytes left
  /// has `transport.close_limit` for them, from its close on.
  ~broker_threads();
  broker_threads(const broker_threads&) = delete;
  broker_threads& operator=(const broker_threads&) = delete;

  /// Returns the I/O threads of the sockets. They must not be stopped while actors live on them:
  /// the next time such an actor has work, at the system's end at the latest, the program ends with
  /// a text that gives the reason.
  [[nodiscard]] io_threads& io() noexcept { return io_; }
  /// Returns spawn options for an actor on this thread. Requires `thread < io().size()`.
  [[nodiscard]] core::spawn_options on(std::size_t thread, core::spawn_options o = {}) {
    o.executor = executors_.at(thread).get();
    return o;
  }
  /// Spawns a B on the least loaded of these threads. `where` is an actor system or the spawning
  /// actor. B's constructor gets a `broker_place` and the arguments. Returns B's handle, and fails
  /// as `where.spawn` does.
  template <class B, class Where, class... Args>
  auto spawn(Where& where, Args&&... args) {
    return spawn_on<B>(where, least_loaded(), std::forward<Args>(args)...);
  }
  /// Spawns a B on the given thread.
  template <class B, class Where, class... Args>
  auto spawn_on(Where& where, std::size_t thread, Args&&... args) {
    return where.template spawn<B>(on(thread), broker_place(*this, thread),
                                   std::forward<Args>(args)...);
  }
  /// Returns the thread with the fewest sockets.
  [[nodiscard]] std::size_t least_loaded() const;

 private:
  std::vector<std::unique_ptr<core::loop_executor>> executors_;  // outlive the jobs of io_
  io_threads io_;
};

}  // namespace garrick::net
