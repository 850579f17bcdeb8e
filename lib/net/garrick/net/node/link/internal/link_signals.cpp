// Links, monitors, downs, exits and kills between actors of the two nodes, in both directions, and
// withdrawals of requests.
#include <garrick/core/seam/signals.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/node/link/internal/link.hpp>
#include <garrick/net/wire/orders.hpp>

#include <algorithm>
#include <utility>

namespace garrick::net::internal {

using core::envelope_ptr;

namespace {

template <class T>
const T* as(const envelope_ptr& e) noexcept {
  return e->type == &base::message_type_of<T> ? static_cast<const T*>(e->raw()) : nullptr;
}

base::exit_reason reason_in(const frame& f, foreign_names* names) {
  const base::result<base::exit_reason> r = decode<base::exit_reason>(f.payload, {.names = names});
  return r ? *r : base::exit_reason(r.error());
}

base::exit_reason too_many_watches() {
  return base::exit_reason(
      base::make_error(net_errc::overload, "a node", "too many links and monitors"));
}

/// Sends a signal to a local actor, also while no handle to it exists, or to an actor of a third
/// node through its proxy. Returns false if the actor takes no more turns and was not told.
template <class Signal, class... Args>
bool tell(const core::address& who, Args&&... args) {
  core::cell* const c = core::handle_access::get(who);
  if (c == nullptr) return false;
  envelope_ptr e(core::detail::make_envelope<Signal>(std::forward<Args>(args)...));
  const bool is_elsewhere = c->is_elsewhere();
  if (!is_elsewhere && !c->lock()) {
    if (!c->signal_unheld(e.get())) return false;
    static_cast<void>(e.release());
    return true;
  }
  c->signal(e.release());
  if (!is_elsewhere) c->drop_strong();
  return true;
}

}  // namespace

// ---- from actors here ---------------------------------------------------------------------------

void link::signal(remote_cell& to, envelope_ptr e) {
  if (!outbox_.is_behind()) return signal_now(to, std::move(e));
  static_cast<void>(asker_->slot().add({.to = &to}, e, mail_slot::kind::signal));
  send_waiting();
}

void link::signal_now(remote_cell& to, envelope_ptr e) {
  if (is_closed_) return to.lost_signal(e, why_);
  if (const auto* const w = as<core::signals::withdrawn>(e))
    return signal_withdrawn(to, {w->requester, w->request});
  if (const auto* const w = as<core::signals::watch>(e))
    return signal_watch(to, w->watcher, w->monitor);
  if (const auto* const w = as<core::signals::unwatch>(e))
    return signal_unwatch(to, w->watcher, w->monitor);
  if (const auto* const d = as<core::down>(e))
    return signal_down(to, d->who, d->reason, d->monitor);
  if (const auto* const x = as<core::exit_signal>(e)) return signal_exit(to, *x);
  if (const auto* const k = as<core::signals::kill>(e))
    if (auto p = payload_of(kill_order{k->reason, k->final}))
      post({.kind = frame_kind::kill, .receiver = to.id()}, std::move(*p));
}

/// Withdraws a request of which the answer is not wanted any more. The question ends at both ends,
/// and a system that ends does not wait for it.
void link::signal_withdrawn(remote_cell& to, const questions::asked_by& who) {
  const questions::place at = questions_.find(who);
  if (!questions_.is_open(at)) return;  // answered meanwhile, or refused
  const std::uint64_t number = at->first;
  const questions::question q = questions_.take(at);
  questions_.withdraw(q);
  outbox_.look_before_leaving();
  outgoing m = to_outgoing({.kind = frame_kind::cancel,
                            .receiver = to.id(),
                            .sender = sender_id(who.requester),
                            .number = number},
                           empty_payload());
  m.lane = q.lane;  // it must not overtake the request
  post(std::move(m), now());
}

void link::signal_watch(remote_cell& to, const core::address& watcher, std::uint64_t monitor) {
  if (monitor == 0 && watches_.link_again(to.id(), watcher)) return;
  if (watches_.is_full()) {
    const base::exit_reason no = too_many_watches();
    if (monitor != 0) return remote_cell::tell_down(watcher, to.address(), no, monitor);
    return remote_cell::tell_exit(watcher, to.address(), no);
  }
  if (monitor == 0) {
    const actor_id id = watches_.link(watcher, to.address(), to.id());
    return post({.kind = frame_kind::link, .receiver = to.id(), .sender = id}, empty_payload());
  }
  const std::uint64_t number = ++next_number_;
  const actor_id id = watches_.watch(number, watcher, monitor, to.address(), to.id());
  post({.kind = frame_kind::monitor, .receiver = to.id(), .sender = id, .number = number},
       empty_payload());
}

void link::signal_unwatch(remote_cell& to, const core::address& watcher, std::uint64_t monitor) {
  if (monitor == 0) {
    if (const std::optional<watches::pair> l = watches_.unlink(to.id(), watcher))
      post({.kind = frame_kind::unlink, .receiver = to.id(), .sender = l->here_id},
           empty_payload());
  } else if (const std::optional<watches::told> w = watches_.unwatch(watcher, monitor)) {
    post({.kind = frame_kind::demonitor, .receiver = to.id(), .sender = w->id, .number = w->number},
         empty_payload());
  }
}

/// Sends an exit. Its sender has ended, or wants the receiver to end, so their link is over.
void link::signal_exit(remote_cell& to, const core::exit_signal& x) {
  frame f{.kind = frame_kind::exit, .receiver = to.id()};
  if (x.from) {
    f.sender = exports_.number_of(x.from).value_or(sender_id(x.from.id()));
    static_cast<void>(watches_.unlink(to.id(), x.from));
  }
  if (auto p = payload_of(x.reason)) post(f, std::move(*p));
}

/// Tells the peer that a local actor which it monitors has ended. The frame follows the actor's
/// messages.
void link::signal_down(remote_cell& to, const core::address& dead, const base::exit_reason& why,
                       std::uint64_t monitor) {
  const std::optional<actor_id> dead_id = watches_.target_ended(to.id(), monitor, dead);
  if (!dead_id) return;
  std::optional<packet> p = payload_of(why);
  if (!p) p = payload_of(base::exit_reason(base::exit_code::kill));
  outgoing m = to_outgoing(
      {.kind = frame_kind::down, .receiver = to.id(), .sender = *dead_id, .number = monitor},
      std::move(*p));
  m.lane = net::lane_of(
      {.kind = frame_kind::message, .receiver = to.id(), .sender = sender_id(dead.id())});
  post(std::move(m), now());
}

// ---- from actors of the peer --------------------------------------------------------------------

void link::on_watch(const frame& f, std::uint64_t monitor) {
  exports::entry* const x = exports_.find(f.receiver);
  if (!f.sender) return;
  if (x == nullptr || core::handle_access::get(x->who) == nullptr)
    return refuse_watch(f, monitor, base::exit_code::unreachable);
  // A refused link ends the watcher, as it does if the watcher's own node refuses it.
  if (watches_.is_full_of_peers()) return refuse_watch(f, monitor, too_many_watches());
  const core::address target = x->who;
  // The handle lives only for this call: a watch that held its watcher would never end.
  const auto proxy = core::handle_access::adopt<core::any_protocol>(&proxies_.of(f.sender));
  core::address watcher = proxy.address();
  bool is_new = false;
  if (monitor != 0) {
    if (!watches_.watched_by({watcher, target, monitor, f.sender, f.receiver})) return;
  } else {
    const auto [l, is_first] = watches_.linked_by(f.sender, {target, watcher, f.receiver});
    is_new = is_first;
    watcher = l.there;
  }
  if (tell<core::signals::watch>(target, watcher, monitor)) return;
  if (is_new) static_cast<void>(watches_.unlink(f.sender, target));
  if (monitor != 0) static_cast<void>(watches_.unwatched_by(f.sender, monitor, f.receiver));
  refuse_watch(f, monitor, base::exit_code::unreachable);
}

void link::refuse_watch(const frame& f, std::uint64_t monitor, const base::exit_reason& why) {
  frame answer{.kind = frame_kind::exit, .receiver = f.sender, .sender = f.receiver};
  if (monitor != 0) {
    answer.kind = frame_kind::down;
    answer.number = monitor;
  }
  if (std::optional<packet> p = payload_of(why)) post(answer, std::move(*p));
}

void link::on_unwatch(const frame& f, std::uint64_t monitor) {
  if (monitor == 0) {
    const exports::entry* const x = exports_.find(f.receiver);
    if (x == nullptr) return;
    if (const std::optional<watches::pair> l = watches_.unlink(f.sender, core::address(x->who)))
      tell<core::signals::unwatch>(l->here, l->there, monitor);
  } else if (const auto w = watches_.unwatched_by(f.sender, monitor, f.receiver)) {
    tell<core::signals::unwatch>(w->target, w->watcher, monitor);
  }
}

void link::on_down(const frame& f) {
  if (const std::optional<watches::monitor> w = watches_.answered(f.number, f.receiver))
    remote_cell::tell_down(w->watcher, w->target, reason_in(f, names_.get()), w->number);
}

/// Returns true if the peer may end an actor that has not linked itself with an actor of the peer.
/// Counts a refusal.
bool link::lets_end() noexcept {
  const bool may = node_->settings().let_peers_end;
  ends_refused_ += may ? 0 : 1;
  return may;
}

void link::on_exit(const frame& f) {
  const exports::entry* const x = exports_.find(f.receiver);
  if (x == nullptr) return;
  const core::address who = x->who;
  remote_cell* const known = proxies_.find(f.sender);
  core::address from = known != nullptr ? known->address() : core::address();
  const std::optional<watches::pair> l = watches_.unlink(f.sender, who);
  if (!(l && l->set_here) && !lets_end()) {
    if (l) tell<core::signals::unwatch>(who, l->there, std::uint64_t{0});
    return;
  }
  if (l) {
    // The link may be older than the proxy that is known now.
    if (!from) from = l->there;
    if (from != l->there) tell<core::signals::unwatch>(who, l->there, std::uint64_t{0});
  }
  remote_cell::tell_exit(who, from, reason_in(f, names_.get()));
}

/// Ends all watches and links of actors with the link of the two nodes. The loss of a peer that may
/// end no actor ends only those that have linked themselves with an actor of the peer.
void link::end_watches(const base::exit_reason& reason) noexcept {
  const bool ends_all = node_->settings().let_peers_end;
  for (const auto& [key, l] : watches_.end_links()) {
    if (l.set_here || ends_all)
      remote_cell::tell_exit(l.here, l.there, reason);
    else
      tell<core::signals::unwatch>(l.here, l.there, std::uint64_t{0});
  }
  for (const auto& [number, w] : watches_.end_watching())
    remote_cell::tell_down(w.watcher, w.target, reason, w.number);
  for (const auto& [key, w] : watches_.end_watched())
    tell<core::signals::unwatch>(w.target, w.watcher, w.number);
}

void link::on_kill(const frame& f) {
  const exports::entry* const x = exports_.find(f.receiver);
  if (x == nullptr || !lets_end()) return;
  const base::result<kill_order> order = decode<kill_order>(f.payload, {.names = names_.get()});
  if (order) tell<core::signals::kill>(x->who, order->reason, order->final);
}

}  // namespace garrick::net::internal
