// The system lane: what each of its messages does to an actor, and what is answered for an actor
// that has ended.
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

/// One message of the system lane, which stays the caller's. May throw what user code throws. The
/// runner.
void on_signal(cell& self, envelope* e);

/// After a signal was linked to a cell that has ended: answers what expects an answer. Any thread.
void answer_for_the_dead(cell& dead) noexcept;

/// The same for one signal, which stays the caller's. Any thread.
void answer_for_the_dead(cell& dead, envelope* e) noexcept;

/// The mail of `self` is dropped for `why`, at its end or at a restart, and `e` of the system is in
/// it: the dead answer it, an actor that restarts keeps requests to watch, and a signal that waited
/// for a hook is a dead letter. `e` stays the caller's. The runner.
void drop_from_mail(cell& self, envelope* e, const base::error& why) noexcept;

/// Sends a signal to an actor that may have ended: then it is answered for it. False if nobody
/// holds it and it will have no turn any more, so that it could not be told; an actor that lives
/// elsewhere is told all the same, since others may hold it there. Any thread.
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

/// Puts a `down` behind the mail of `watcher`, so that it does not overtake what the dead actor had
/// sent there. Nothing else of the system goes that way, but for a watch that its actor has no
/// memory for, an errand that is put off, and a signal for a hook. A watcher to which nobody has a
/// handle hears of it if it runs, or has mail: it may make one again. Any thread that has its
/// address.
void bring_down(cell& watcher, const address& dead, const base::exit_reason& reason,
                std::uint64_t monitor) noexcept;

}  // namespace garrick::core::system_lane
