// Links, monitors, exits and ends, in both directions.
#include <garrick/core/cell/signals.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/node/internal/node_link.hpp>
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

base::exit_reason reason_in(const frame& f) {
  const base::result<base::exit_reason> r = decode<base::exit_reason>(f.payload);
  return r ? *r : base::exit_reason(r.error());
}

template <class Signal, class... Args>
void tell(const core::address& who, Args&&... args) {
  core::cell* const c = core::handle_access::get(who);
  if (c == nullptr || !c->lock()) return;
  c->signal(core::detail::make_envelope<Signal>(std::forward<Args>(args)...));
  c->drop_strong();
}

}  // namespace

// ---- from actors here ---------------------------------------------------------------------------

void node_link::signal(remote_cell& to, envelope_ptr e) {
  if (is_closed_) return to.lost_signal(e, why_);
  if (const auto* const w = as<core::signals::withdrawn>(e))
    return signal_withdrawn(to, {w->requester, w->request});
  if (const auto* const w = as<core::signals::watch>(e))
    return signal_watch(to, w->watcher, w->monitor);
  if (const auto* const w = as<core::signals::unwatch>(e))
    return signal_unwatch(to, w->watcher, w->monitor);
  if (const auto* const d = as<core::down>(e))
    return signal_down(to, d->who, d->reason, d->monitor);
  if (const auto* const x = as<core::exit_signal>(e)) {
    frame f{.kind = frame_kind::exit, .receiver = to.id()};
    if (x->from) f.sender = exports_.number_of(x->from).value_or(sender_id(x->from.id()));
    if (auto p = payload_of(x->reason)) post(f, std::move(*p));
    // Who has ended is linked no more.
    const auto is_its = [&](const watching& w) {
      return w.monitor == 0 && w.watcher == to.address() && w.target == x->from;
    };
    std::erase_if(watched_, is_its);
    return;
  }
  if (const auto* const k = as<core::signals::kill>(e))
    if (auto p = payload_of(kill_order{k->reason, k->final}))
      post({.kind = frame_kind::kill, .receiver = to.id()}, std::move(*p));
}

/// Nobody here wants the answer any more. So the question is over at both ends, and a system that
/// ends does not wait for it.
void node_link::signal_withdrawn(remote_cell& to, const asked_here& who) {
  const auto known = numbers_.find(who);
  if (known == numbers_.end()) return;  // answered meanwhile, or refused
  const std::uint64_t number = known->second;
  const auto at = questions_.find(number);
  if (at == questions_.end()) return;
  const question q = take_question(at);
  q.request.requester->drop_strong();
  node_->env().outside_ended();
  outbox_may_be_stale_ = !outbox_.empty();
  post({.kind = frame_kind::cancel,
        .receiver = to.id(),
        .sender = sender_id(who.requester),
        .number = number},
       empty_payload());
}

void node_link::signal_watch(remote_cell& to, const core::address& watcher, std::uint64_t monitor) {
  if (watches_.size() >= node_->settings().most_watches) {
    const base::exit_reason no(
        base::make_error(net_errc::overload, "a node", "too many links and monitors"));
    if (monitor != 0) return remote_cell::tell_down(watcher, to.address(), no, monitor);
    return remote_cell::tell_exit(watcher, to.address(), no);
  }
  const actor_id id = exports_.name(watcher);
  const std::uint64_t number = ++next_number_;
  watches_.emplace(number, watching{watcher, to.address(), monitor, id, to.id()});
  if (monitor != 0)
    post({.kind = frame_kind::monitor, .receiver = to.id(), .sender = id, .number = number},
         empty_payload());
  else
    post({.kind = frame_kind::link, .receiver = to.id(), .sender = id}, empty_payload());
}

void node_link::signal_unwatch(remote_cell& to, const core::address& watcher,
                               std::uint64_t monitor) {
  const auto at = std::find_if(watches_.begin(), watches_.end(), [&](const auto& one) {
    const watching& w = one.second;
    return w.monitor == monitor && w.watcher == watcher && w.target_id == to.id();
  });
  if (at == watches_.end()) return;
  const watching w = at->second;
  const std::uint64_t number = at->first;
  watches_.erase(at);
  if (monitor != 0)
    post({.kind = frame_kind::demonitor,
          .receiver = to.id(),
          .sender = w.watcher_id,
          .number = number},
         empty_payload());
  else
    post({.kind = frame_kind::unlink, .receiver = to.id(), .sender = w.watcher_id},
         empty_payload());
  exports_.forget(w.watcher_id);
}

/// An actor here has ended, and one of the peer wants to know. That goes behind what it has sent.
void node_link::signal_down(remote_cell& to, const core::address& dead,
                            const base::exit_reason& why, std::uint64_t monitor) {
  const auto at = std::find_if(watched_.begin(), watched_.end(), [&](const watching& w) {
    return w.monitor == monitor && w.watcher_id == to.id() && w.target == dead;
  });
  if (at == watched_.end()) return;
  const actor_id dead_id = at->target_id;
  watched_.erase(at);
  std::optional<packet> p = payload_of(why);
  if (!p) p = payload_of(base::exit_reason(base::exit_code::kill));
  outgoing m = to_outgoing(
      {.kind = frame_kind::down, .receiver = to.id(), .sender = dead_id, .number = monitor},
      std::move(*p));
  m.lane =
      lane_of({.kind = frame_kind::message, .receiver = to.id(), .sender = sender_id(dead.id())});
  post(std::move(m));
}

// ---- from actors of the peer --------------------------------------------------------------------

void node_link::on_watch(const frame& f, std::uint64_t monitor) {
  export_table::entry* const x = exports_.find(f.receiver);
  core::cell* const target = x != nullptr ? core::handle_access::get(x->who) : nullptr;
  const bool is_relayed = target != nullptr && target->is_elsewhere();
  if (target == nullptr || (!is_relayed && !target->lock()) ||
      watched_.size() >= node_->settings().most_watches) {
    const base::exit_reason gone(base::exit_code::unreachable);
    std::optional<packet> p = payload_of(gone);
    if (monitor != 0)
      post(
          {.kind = frame_kind::down, .receiver = f.sender, .sender = f.receiver, .number = monitor},
          std::move(*p));
    else
      post({.kind = frame_kind::exit, .receiver = f.sender, .sender = f.receiver}, std::move(*p));
    return;
  }
  watching w{.watcher = {},
             .target = x->who,
             .monitor = monitor,
             .watcher_id = f.sender,
             .target_id = f.receiver,
             .keeps = core::handle_access::adopt<core::any_protocol>(&proxy_of(f.sender))};
  w.watcher = w.keeps.address();
  const core::address watcher = w.watcher;
  watched_.push_back(std::move(w));
  target->signal(core::detail::make_envelope<core::signals::watch>(watcher, monitor));
  if (!is_relayed) target->drop_strong();
}

void node_link::on_unwatch(const frame& f, std::uint64_t monitor) {
  const auto at = std::find_if(watched_.begin(), watched_.end(), [&](const watching& w) {
    return w.monitor == monitor && w.watcher_id == f.sender && w.target_id == f.receiver;
  });
  if (at == watched_.end()) return;
  const watching w = *at;
  watched_.erase(at);
  tell<core::signals::unwatch>(w.target, w.watcher, monitor);
}

void node_link::on_down(const frame& f) {
  const auto at = watches_.find(f.number);
  if (at == watches_.end() || at->second.monitor == 0 || at->second.watcher_id != f.receiver)
    return;
  const watching w = at->second;
  watches_.erase(at);
  exports_.forget(w.watcher_id);
  remote_cell::tell_down(w.watcher, w.target, reason_in(f), w.monitor);
}

void node_link::on_exit(const frame& f) {
  const export_table::entry* const x = exports_.find(f.receiver);
  if (x == nullptr) return;
  const core::address who = x->who;
  const auto known = proxies_.find(f.sender);
  const core::address from =
      known != proxies_.end() ? core::handle_access::make_address(known->second) : core::address();
  for (auto at = watches_.begin(); at != watches_.end();) {
    const watching& w = at->second;
    if (w.monitor == 0 && w.watcher_id == f.receiver && w.target_id == f.sender) {
      const actor_id named = w.watcher_id;
      at = watches_.erase(at);
      exports_.forget(named);
    } else {
      ++at;
    }
  }
  remote_cell::tell_exit(who, from, reason_in(f));
}

void node_link::on_kill(const frame& f) {
  const export_table::entry* const x = exports_.find(f.receiver);
  if (x == nullptr) return;
  const base::result<kill_order> order = decode<kill_order>(f.payload);
  if (order) tell<core::signals::kill>(x->who, order->reason, order->final);
}

}  // namespace garrick::net::internal
