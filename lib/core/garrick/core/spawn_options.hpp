// The options of a spawn. A bad combination is refused: the spawn fails with `spawn_failed`, and
// the error names the option.
//
// Thread safety: values; `near` on any thread.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/ref.hpp>

#include <cstdint>
#include <string>

namespace garrick::core {

/// The options of a spawn. A bad combination is refused: the spawn fails with `spawn_failed`, and
/// the error names the option.
///
///     spawn<worker>(spawn_options{.name = "clock", .linked = true}, 7);
struct spawn_options {
  /// for logs and reports; empty: the type's name. The registry does not use it
  std::string name{};
  bool linked = false;     ///< ends together with its spawner; ignored when a thread spawns
  bool monitored = false;  ///< the spawner gets a `down`; ignored when a thread spawns
  /// the actor starts only when its first message comes; not for actors with a thread of their own
  bool lazy = false;
  bool hidden = false;    ///< `await_all` does not wait for the actor; shutdown reports omit it
  bool detached = false;  ///< the actor has a thread of its own
  bool in_place = true;   ///< a sender may run the actor in place when its mailbox is full
  std::uint32_t soft_limit = 0;  ///< messages, up to `most_messages`; 0: the system's
  /// messages, not below the soft limit or the bound, up to `most_messages_at_all`; 0: the system's
  std::uint32_t hard_limit = 0;
  /// the rule for a message when the mailbox is at its bound
  mailbox_policy policy = mailbox_policy::unbounded;
  /// messages, 1 to `most_messages`; required by every policy but unbounded, which refuses a bound
  std::uint32_t bound = 0;
  /// the most messages of one run; 0, or more than the system's: the system's
  std::uint32_t quantum = 0;
  /// its preferred place, for a scheduling policy that knows places; also the result of `near`
  base::locality_hint hint{};
  /// The processors on which the actor's own thread runs, as one group of the text that
  /// `detached.affinity` takes: "<2-4,6>". Empty: the processors of detached actors' threads. For
  /// actors with a thread of their own: the spawn of any other actor fails with `spawn_failed`, and
  /// so does a spawn with a processor that the process may not use.
  std::string affinity{};
  /// the actor's only executor: a `loop_executor`, which must outlive the system; null: the
  /// system's workers. Not for actors with a thread of their own
  base::executor* executor = nullptr;
};

/// Returns a hint for `spawn_options::hint`: the home of the actor behind `other`. No hint if
/// `other` is empty or its actor has no home yet. Any thread.
///
///     spawn<index>(spawn_options{.hint = near(store)});
template <class P>
[[nodiscard]] base::locality_hint near(const ref<P>& other) noexcept {
  const cell* const c = handle_access::get(other);
  if (c == nullptr) return {};
  const base::locality_hint h = c->place.get();
  using kind = base::locality_hint::kind;
  return h.what() == kind::placed || h.what() == kind::settled
             ? base::locality_hint(kind::settled, h.value())
             : base::locality_hint();
}

}  // namespace garrick::core
