// The system lane: the effect of each of its messages on an actor, and the answer for an actor that
// has ended.
//
// Thread safety: stated per function.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/watch_lists.hpp>
#include <garrick/core/life/internal/last_words.hpp>
#include <garrick/core/life/signals.hpp>

#include <cstdint>
#include <utility>

namespace garrick::core::system_lane {

/// Handles `e`, a message of the system lane; `e` stays the caller's. Passes exceptions of user
/// code on. The runner.
void on_signal(cell& self, envelope* e);

/// Called after a signal was linked to a cell that has ended: answers the signals that expect an
/// answer. Any thread.
void answer_for_the_dead(cell& dead) noexcept;

/// The same for one signal, which stays the caller's. Any thread.
void answer_for_the_dead(cell& dead, envelope* e) noexcept;

/// Handles the system message `e` in mail of `self` that is dropped for `why`, at its end or at a
/// restart: an ended actor answers it, a restarting actor keeps requests to watch, and a signal
/// that waited for a hook becomes a dead letter. `e` stays the caller's. The runner.
void drop_from_mail(cell& self, envelope* e, const base::error& why) noexcept;

/// Sends a signal to an actor. If the actor has ended while a strong handle is left, the signal is
/// answered for it. Returns false if no strong handle is left and the actor will have no turn any
/// more, so that it could not be told; an actor elsewhere is always told, since other processes may
/// hold it. Any thread.
template <class Signal, class... Args>
bool tell(const address& to, Args&&... args) noexcept {
  cell* const c = handle_access::get(to);
  if (c == nullptr) return false;
  const auto make = [&] {
    return last_words<Signal>("an actor cannot be told of another one's life or death",
                              std::forward<Args>(args)...);
  };
  if (c->is_elsewhere()) return c->signal(make()), true;
  if (!c->lock()) {
    if (c->has_ended()) return false;
    envelope_ptr e(make());
    if (!c->signal_unheld(e.get())) return false;
    static_cast<void>(e.release());
    return true;
  }
  c->signal(make());
  c->drop_strong();
  return true;
}

/// Tells one watcher that `self` has ended: by an exit signal, or by a `down`.
void notify(const watcher& w, cell& self, const base::exit_reason& reason) noexcept;

/// Puts a `down` behind the mail of `watcher`, so that it does not overtake messages of the dead
/// actor. The mail holds only three other kinds of system messages: a watch for which there was no
/// memory, an errand that was put off, and a signal that waits for a hook. A watcher without a
/// strong handle is told if it runs or has mail, since it may make a handle again. Any thread that
/// has its address.
void bring_down(cell& watcher, const address& dead, const base::exit_reason& reason,
                std::uint64_t monitor) noexcept;

}  // namespace garrick::core::system_lane
