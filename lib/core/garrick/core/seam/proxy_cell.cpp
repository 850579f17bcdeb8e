// The handling of all mail and signals for a proxy.
#include <garrick/base/platform/assert.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/overload/internal/credit.hpp>
#include <garrick/core/protocol/pack.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/core/turn/internal/system_lane.hpp>

#include <new>
#include <utility>

namespace garrick::core {

proxy_cell::proxy_cell(environment& env) : cell(env, cell_kind::event, false) {
  become_proxy();
  static_cast<void>(ext());  // holds the reason of its end, for which memory must not be missing
  static_cast<void>(reader().close(gate()));
  set_stalled(true);
  env.hold();  // as for an actor that has ended: its handles may outlive the system
}

void proxy_cell::end(base::exit_reason reason) noexcept {
  // order: only the first caller goes on; nothing is read under it
  if (ending_.exchange(true, std::memory_order_relaxed)) return;
  quit(std::move(reason));
  set_stalled(false);  // after the reason
  credit::end_pauses(*this);
}

void proxy_cell::lose(envelope_ptr e, base::error why) noexcept {
  lost_mail::lose(*this, std::move(e), std::move(why));
}

void proxy_cell::answer_as_ended(const envelope_ptr& e) noexcept {
  system_lane::answer_for_the_dead(*this, e.get());
}

void proxy_cell::grant(std::uint32_t messages) noexcept { credit::grant(*this, messages); }

void proxy_cell::need_credit(std::uint32_t messages, base::duration patience) {
  credit::need(*this, messages, patience);
}

bool proxy_cell::take_or_owe(bool may_pause) noexcept {
  return credit::take_or_owe(*this, may_pause);
}

void proxy_cell::owe(std::uint32_t messages) noexcept { credit::owe(*this, messages); }

std::int64_t proxy_cell::credit() const noexcept { return credit::left(*this); }

void proxy_cell::tell_down(const address& watcher, const address& dead,
                           const base::exit_reason& why, std::uint64_t monitor) noexcept {
  cell* const c = handle_access::get(watcher);
  if (c != nullptr) system_lane::bring_down(*c, dead, why, monitor);
}

void proxy_cell::tell_exit(const address& who, const address& from,
                           const base::exit_reason& why) noexcept {
  static_cast<void>(system_lane::tell<exit_signal>(who, from, why));
}

namespace {

/// Returns the time limit of a request from elsewhere, which is handed on with it; otherwise
/// `never`.
base::instant limit_of(const envelope* e) noexcept {
  const bool is_known = e->is(envelope_flag::revocable) && e->is(envelope_flag::request);
  return is_known ? e->requester->wanted_until(e->id()) : base::instant::never();
}

}  // namespace

void proxy_cell::deliver_until(envelope* e, base::instant until) noexcept {
  if (credit::is_needed(*this) && !e->is(envelope_flag::response) && is_elsewhere())
    static_cast<void>(take_or_owe());
  pass_on(e, until);
}

bool proxy_cell::admit(envelope* e, std::uint64_t) noexcept {
  deliver_until(e, limit_of(e));
  return false;
}

void proxy_cell::refuse(envelope* e) noexcept { pass_on(e, limit_of(e)); }

void proxy_cell::pass_on(envelope* e, base::instant until) noexcept {
  if (!is_elsewhere())
    lose(envelope_ptr(e), lost_mail::gone(*this));
  else if (e->is(envelope_flag::system))  // a `down`, which goes behind other mail
    forward_signal(envelope_ptr(e));
  else
    forward(envelope_ptr(e), until);
}

void proxy_cell::answer_late_signals() noexcept { system_lane::answer_for_the_dead(*this); }

void proxy_cell::signal_elsewhere(envelope* e) noexcept {
  envelope_ptr mine(e);
  // an errand needs a turn, and a proxy has none; some errands need no turn
  if (e->type == &base::message_type_of<signals::run_errand>)
    return static_cast<signals::run_errand*>(e->raw())->run(*this);
  if (e->type == &base::message_type_of<signals::room_wanted>) {
    // a proxy always has room; the connection decides the delay
    const auto& w = *static_cast<const signals::room_wanted*>(e->raw());
    if (credit::is_needed(*this) && is_elsewhere()) credit::owe(*this);
    refuse(w.message);
    try {
      respond_value<unit>({w.sender, w.id});
    } catch (const std::bad_alloc&) {  // the sender has got an error instead
    }
  } else {
    forward_signal(std::move(mine));
  }
}

base::run_outcome proxy_cell::run(std::uint32_t&) noexcept {
  GARRICK_ASSERT(false, "a proxy is never scheduled");
  return base::run_outcome::released;
}

dispatch_outcome proxy_cell::dispatch(envelope*) { return dispatch_outcome::unexpected; }
bool proxy_cell::dispatch_system(envelope*) { return false; }

}  // namespace garrick::core
