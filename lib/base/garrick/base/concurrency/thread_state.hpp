// The activity of the current thread: one block of thread-local state that core and sched share
// without knowing each other.
//
// Thread safety: a state belongs to its thread, the only one that writes it. The watchdog's thread
// reads the atomics; everything else is private to the owner.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace garrick::base {

class executor;
class runnable;
struct message_type;

/// An actor whose send runs its receiver in place, as the watchdog sees it.
struct in_place_sender {
  std::atomic<std::uint64_t> actor{0};                 ///< its id
  std::atomic<const message_type*> handling{nullptr};  ///< the type of its message
  std::atomic<bool> in_response{false};                ///< as in thread_state
};

/// The activity of one thread. The thread itself writes it; of another thread's state only the
/// atomics may be read.
struct thread_state {
  /// the executor whose worker this thread is; null on outside, detached and I/O threads
  executor* worker_of = nullptr;
  std::uint32_t worker_index = 0;  ///< index in that executor
  void* actor = nullptr;           ///< core: the cell whose handler runs on this thread now
  std::uint32_t no_in_place = 0;   ///< above zero: this scope must not run receivers in place
  std::uint32_t no_wait = 0;       ///< above zero: sends neither wait nor run receivers in place
  /// sends that may pass a full mailbox after a wait that saw no progress
  std::uint32_t free_sends = 0;
  /// above zero: the sent messages come from another process, where their senders have waited for
  /// credit. So the messages pass the bound of a mailbox with the policy `wait`
  std::uint32_t has_waited = 0;

  // read by the watchdog
  std::atomic<std::uint64_t> actor_id{0};              ///< id of the actor that runs now; 0: none
  std::atomic<const message_type*> handling{nullptr};  ///< type of the message being handled
  /// the handled message is a response: `handling` is the type of its content
  std::atomic<bool> in_response{false};
  std::atomic<std::uint64_t> turns{0};  ///< grows with every message handled on this thread
  /// The number of sends within sends that run receivers in place, below the current turn, ...
  std::atomic<std::uint32_t> in_place_depth{0};
  /// ... and their senders, the outermost first.
  std::array<in_place_sender, 4> in_place_senders{};
};

/// The calling thread's state. Constant-initialised, so the access compiles to one segment-relative
/// load.
inline constinit thread_local thread_state this_thread{};

}  // namespace garrick::base
