// I/O threads for brokers: their sockets live there, and brokers may run there.
//
//   net::broker_threads threads;      // before the system, so it ends later
//   actor_system system;
//   auto server = threads.spawn<echo>(system, "tcp://127.0.0.1:4040");
//
// On an I/O thread a broker gets what comes, and sends what it writes, without another thread.
// While one of its handlers runs, other sockets of that thread wait; so a broker that computes or
// blocks is spawned by `system.spawn<echo>(net::broker_place(threads), …)`, and runs on the
// workers.
//
// Thread safety: any thread. Constructor, destructor: one thread's, and no I/O thread's.
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

/// Where a broker's sockets are to live: the first argument of a broker's constructor.
class broker_place {
 public:
  using garrick_sendable = void;  ///< the threads outlive the system

  /// On any of these threads.
  explicit broker_place(broker_threads& threads) noexcept : threads_(&threads) {}
  /// On this one of them.
  broker_place(broker_threads& threads, std::size_t thread) noexcept
      : threads_(&threads), thread_(thread) {}

  /// The threads.
  [[nodiscard]] broker_threads& threads() const noexcept { return *threads_; }
  /// Which of them; none: any.
  [[nodiscard]] std::optional<std::size_t> thread() const noexcept { return thread_; }

 private:
  broker_threads* threads_;
  std::optional<std::size_t> thread_;
};

/// The threads. They have to outlive the actor system.
class broker_threads {
 public:
  /// As the constructor of `io_threads`.
  explicit broker_threads(io_settings s = {});
  /// What brokers have written is sent first: a connection that was closed with something left has
  /// `transport.close_limit` for that, from its close on.
  ~broker_threads();
  broker_threads(const broker_threads&) = delete;
  broker_threads& operator=(const broker_threads&) = delete;

  /// What the sockets live on. It must not be stopped while actors live on it: the next time one
  /// of them has something to do, at the system's end at the latest, the program ends with a text
  /// that says so.
  [[nodiscard]] io_threads& io() noexcept { return io_; }
  /// Options with which an actor runs on this thread. Requires `thread < io().size()`.
  [[nodiscard]] core::spawn_options on(std::size_t thread, core::spawn_options o = {}) {
    o.executor = executors_.at(thread).get();
    return o;
  }
  /// Spawns a B on the least loaded of these threads. `where` is an actor system, or the actor that
  /// spawns; B's constructor gets a `broker_place` and the arguments. As `spawn` there.
  template <class B, class Where, class... Args>
  auto spawn(Where& where, Args&&... args) {
    return spawn_on<B>(where, least_loaded(), std::forward<Args>(args)...);
  }
  /// The same on this thread.
  template <class B, class Where, class... Args>
  auto spawn_on(Where& where, std::size_t thread, Args&&... args) {
    return where.template spawn<B>(on(thread), broker_place(*this, thread),
                                   std::forward<Args>(args)...);
  }
  /// The thread with the fewest sockets.
  [[nodiscard]] std::size_t least_loaded() const;

 private:
  std::vector<std::unique_ptr<core::loop_executor>> executors_;  // outlive the jobs of io_
  io_threads io_;
};

}  // namespace garrick::net
