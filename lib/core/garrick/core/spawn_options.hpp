// What a spawn can ask for beyond the actor itself.
#pragma once

#include <garrick/base/runnable.hpp>
#include <garrick/core/cell.hpp>
#include <garrick/core/ref.hpp>

#include <cstdint>
#include <string>

namespace garrick::core {

struct spawn_options {
  std::string name{};                                 ///< for logs, reports and the registry; empty: the type's name
  bool linked = false;                                ///< ends together with its spawner; ignored when a thread spawns
  bool monitored = false;                             ///< the spawner gets a `down`
  bool lazy = false;                                  ///< runs its start only when the first message comes
  bool hidden = false;                                ///< `await_all` and shutdown reports do not wait for it or name it
  bool detached = false;                              ///< a thread of its own
  bool in_place = true;                               ///< may a sender run it in place when its mailbox is full?
  std::uint32_t soft_limit = 0;                       ///< messages; 0: the system's
  std::uint32_t hard_limit = 0;                       ///< messages; 0: the system's
  mailbox_policy policy = mailbox_policy::unbounded;  ///< what happens to a message when the mailbox is at its bound
  std::uint32_t bound = 0;                            ///< messages, 1 to 32768; required with every policy but unbounded
  base::locality_hint hint{};  ///< where it would like to run, for a policy that knows places; `near(ref)` is one, too
};

/// A hint: the home of the actor behind `other` (nothing, if it has none yet).
template <class P>
[[nodiscard]] base::locality_hint near(const ref<P>& other) noexcept {
  const cell* const c = handle_access::get(other);
  if (c == nullptr) return {};
  const base::locality_hint h = c->place.get();
  using kind = base::locality_hint::kind;
  return h.what() == kind::placed || h.what() == kind::settled ? base::locality_hint(kind::settled, h.value())
                                                               : base::locality_hint();
}

}  // namespace garrick::core
