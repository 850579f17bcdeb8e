// Threads for detached and blocking actors: created on demand up to a bound, kept and reused.
//
// Private: installed because system_core.hpp needs it.
//
// Thread safety: every function may be called from any thread.
//
// Invariant: a thread serves one cell from `take` until that cell's `actor_ended`. From then on it
// is free for the next cell, even while the last run of the ended cell goes on.
#pragma once

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/sched/places/affinity.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::system {

class detached_thread;

/// The threads of one system's detached and blocking actors. Any thread.
class detached_pool {
 public:
  /// The processors of the threads; see sched/places/affinity.hpp. Empty: those of the thread that
  /// made the pool, no matter which thread spawns.
  struct places {
    sched::affinity detached{};  ///< for detached actors
    sched::affinity blocking{};  ///< for blocking actors
  };

  /// Functions that every thread of the pool calls, first and last; null: none.
  struct thread_hooks {
    void (*begin)() noexcept = nullptr;  ///< before the thread's first actor
    void (*end)() noexcept = nullptr;    ///< after its last
  };

  /// Starts no thread yet. At most `bound` threads live at a time; `quantum` is the most messages
  /// of one run; `thread_name`, at most 10 bytes, begins the threads' names. Throws std::bad_alloc.
  detached_pool(std::uint32_t bound, std::uint32_t quantum, std::string thread_name, places where,
                thread_hooks hooks);
  /// Calls `stop`.
  ~detached_pool();
  detached_pool(const detached_pool&) = delete;
  detached_pool& operator=(const detached_pool&) = delete;

  /// Returns a thread that serves one actor until that actor's `actor_ended`. It runs on the
  /// processors of `affinity`, a text with one group; if that is empty, on the pool's processors
  /// for blocking actors if `blocking`, and otherwise on those for detached actors. Errors:
  /// `shutting_down` if the pool is stopped; `spawn_failed` if `affinity` is wrong, the bound is
  /// reached, or the operating system gives no thread or no memory; the error's text names the
  /// cause. May create a thread, which takes tens of microseconds.
  [[nodiscard]] base::result<core::waiting_executor*> take(bool blocking = false,
                                                           std::string_view affinity = {}) noexcept;
  /// Ends the threads that serve no actor, and blocks until the actors of the other threads have
  /// ended. Later `take` fails. Do not call it on a thread of the pool, which would wait for
  /// itself.
  void stop() noexcept;
  /// Returns the number of threads that serve an actor now.
  [[nodiscard]] std::uint32_t in_use() const noexcept;
  /// Calls `f` with the state of each thread, for a diagnosis: only its atomics may be read. Holds
  /// the pool's lock meanwhile, so `f` must not block, nor call the pool.
  template <class F>
  void for_each_thread(F f) const {
    const std::lock_guard guard(mutex_);
    for (const base::thread_state* t : states_) f(*t);
  }

 private:
  friend class detached_thread;
  /// Returns 1 for blocking actors, if they have places of their own, and 0 for all others.
  [[nodiscard]] std::size_t kind_of(bool blocking) const noexcept {
    return blocking && !(places_.detached.empty() && places_.blocking.empty()) ? 1 : 0;
  }
  [[nodiscard]] base::result<core::waiting_executor*> take_for(
      std::size_t kind, sched::affinity::processors own) noexcept;
  void give_back(detached_thread* t) noexcept;
  void enter(const base::thread_state& t) noexcept;
  void leave(const base::thread_state& t) noexcept;

  const std::uint32_t bound_;
  const std::uint32_t quantum_;
  const std::string thread_name_;
  const thread_hooks hooks_;
  places places_;  ///< a thread takes the next group of its kind when it changes to that kind
  const std::vector<std::int32_t> anywhere_;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<detached_thread>> all_;  // under `mutex_`
  // under `mutex_`; at the bound, threads of the other kind are taken
  std::vector<detached_thread*> free_[2];
  std::vector<const base::thread_state*> states_;  // under `mutex_`
  bool stopped_ = false;                           // under `mutex_`
};

}  // namespace garrick::system
