// Looks at the workers twice per warning time and names the actor and the handler that does not come back.
//
// It reads samples that the workers publish (base::thread_state): who runs, which message, how many turns. The same turn and message in two looks
// at least `after` apart is a handler that blocks or loops. Costs the workers three plain stores a run and one a message.
//
// Also: reports a stack overflow with the actor's name from an alternate stack, then lets the process abort.
//
// Thread safety: constructed and destroyed by one thread, between the pool's start and stop.
#pragma once

#include <garrick/base/clock.hpp>
#include <garrick/base/probe.hpp>
#include <garrick/sched/scheduler.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace garrick::system {

/// Who the watchdog reports to. Called on the watchdog's thread.
class watchdog_listener {
 public:
  /// The name of a living actor; something to say for one that is gone.
  [[nodiscard]] virtual std::string name_of(std::uint64_t actor) = 0;
  /// A finished sentence.
  virtual void tell(const std::string& text) = 0;

 protected:
  ~watchdog_listener() = default;
};

class watchdog {
 public:
  watchdog(sched::scheduler& pool, base::duration after, base::probe* probe, watchdog_listener& listener);
  ~watchdog();

 private:
  struct sample {
    std::uint64_t turn = 0;
    std::uint64_t actor = 0;
    const base::message_type* handling = nullptr;
    std::uint32_t looks = 0;
    bool reported = false;
  };
  void loop();
  void look();

  sched::scheduler& pool_;
  const std::int64_t interval_ns_;
  base::probe* const probe_;
  watchdog_listener& listener_;
  std::vector<sample> samples_;  // the watchdog's thread

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // under `mutex_`
  std::thread thread_;
};

/// Gives the calling thread an alternate signal stack, and installs the handler that names the actor on a stack overflow.
/// Does nothing if the process has a handler of its own for SIGSEGV.
void report_stack_overflow_on_this_thread() noexcept;
void forget_stack_overflow_on_this_thread() noexcept;

}  // namespace garrick::system
