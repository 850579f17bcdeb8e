// Checks the workers twice per warning time, and names an actor with a handler that has not
// returned.
//
//   garrick::settings s;
//   s.watchdog.after = duration::milliseconds(100);   // instead of a second
//   actor_system system(s);
//
// It also checks the threads of detached actors. A detached actor may compute or block for long, so
// it is named only after thirty times the warning time, and only once: this helps when a program
// hangs. A blocking actor is not named, since its thread waits in `receive` by design. `shutdown`
// names a blocking actor that does not end.
//
// It reads samples that the threads publish (base::thread_state): the running actor, its message,
// the number of turns. If the turn and the message have not changed after `after`, the handler
// blocks or loops. This costs each thread a few plain stores a run and two a message.
//
// A handler that runs in place, inside another actor's send, may wait for a lock that the sending
// actor holds across the send. It then waits for its own thread for ever. So the report names the
// senders, and the scope that forbids in-place runs.
//
// Thread safety: one thread constructs, begins and destroys the watchdog. `begin` is called after
// the pool's start, and the destructor before its stop. `set_limit` may be called from any thread.
#pragma once

#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/sched/scheduler.hpp>
#include <garrick/system/threads/detached_pool.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace garrick::system {

/// Returns the message that an actor handles, in words: its type, "a response (int)", "its start".
[[nodiscard]] std::string what_is_handled(const base::message_type* type, bool response);

/// Receives the watchdog's reports. Called on the watchdog's thread; may block, which delays its
/// next look.
class watchdog_listener {
 public:
  /// The facts about an actor.
  struct subject {
    std::string name = "an actor";  ///< keeps this value if the actor is gone
    bool blocking = false;          ///< it waits by design
  };
  /// Returns the subject for the actor with this id.
  [[nodiscard]] virtual subject about(std::uint64_t actor) = 0;
  /// Takes a complete sentence about the actor of that name.
  virtual void tell(std::string_view who, const std::string& text) = 0;

 protected:
  ~watchdog_listener() = default;
};

/// A thread that looks at workers and detached threads. Its name is "garrick-watch".
class watchdog {
 public:
  /// Starts the thread, which waits for `begin`. `pool`, `detached` and `listener` outlive the
  /// watchdog. A worker's handler that runs longer than `after` is reported to the listener, and to
  /// `probe` if it is not null; zero turns the reports off. Throws std::system_error if the thread
  /// cannot be created.
  watchdog(sched::scheduler& pool, const detached_pool& detached, base::duration after,
           base::probe* probe, watchdog_listener& listener);
  /// Ends the thread: blocks until its present look and report are over.
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  /// Begins to look at the pool, which must have started.
  void begin();

  /// Sets the time: a handler that runs longer than `after` is reported; zero turns the reports
  /// off. The time of a running handler counts from now. Any thread; does not block for long.
  void set_limit(base::duration after);

 private:
  struct sample {
    std::uint64_t turn = 0;
    std::uint64_t actor = 0;
    const base::message_type* handling = nullptr;
    bool in_response = false;
    std::uint32_t looks = 0;
    bool reported = false;
  };
  struct detached_sample : sample {
    const base::thread_state* thread = nullptr;  ///< compared, not touched: it may have ended
    std::uint64_t told = 0;                      ///< the actor that was named on this thread
    bool seen = false;                           ///< in this look
  };
  void loop();
  void take_interval(std::int64_t interval_ns);
  void look();
  void look_at_detached();
  /// Returns true if the handler must be reported now: the last `looks` looks found the sample
  /// unchanged.
  [[nodiscard]] static bool compare(sample& before, const base::thread_state& t,
                                    std::uint32_t looks) noexcept;
  void report(const sample& s, std::uint32_t worker, const watchdog_listener::subject& who,
              const std::string& advice);
  /// Returns advice about the handler that runs on `t`; `who` is the name of its actor.
  [[nodiscard]] std::string advice_for(const base::thread_state& t, const std::string& who);

  sched::scheduler& pool_;
  const detached_pool& detached_;
  base::probe* const probe_;
  watchdog_listener& listener_;
  // the watchdog's thread
  std::int64_t interval_ns_ = 0;  ///< between the looks that were counted
  std::vector<sample> samples_;
  std::vector<detached_sample> detached_samples_;

  std::mutex mutex_;
  std::condition_variable wake_;
  // under `mutex_`
  bool begun_ = false;
  bool stop_ = false;
  std::int64_t wanted_ns_;  ///< between two looks; 0: it does not look
  std::thread thread_;
};

}  // namespace garrick::system
