// A link's life, and the events of the stack below.
#include <garrick/net/node/link/internal/link.hpp>

#include <garrick/core/seam/signals.hpp>
#include <garrick/core/send.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/layer/session/handshake.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/wire/orders.hpp>

#include <algorithm>
#include <utility>

namespace garrick::net::internal {

using core::envelope_flag;
using core::envelope_ptr;

namespace {

/// The bytes of an error with the longest text that is shown (printable.hpp).
constexpr std::size_t large_refusal = 4096 + 512;
/// The most frames that may wait for a peer that is allowed no watches, or no handles.
constexpr std::int64_t most_unasked = 1u << 20;

/// Returns the evidence from the loss of a connection, or from a failed attempt to open one.
peer_evidence evidence_of(const base::error& why) {
  const bool is_away = why == net_errc::unreachable || why == net_errc::refused;
  return {is_away ? peer_evidence::kind::unreachable : peer_evidence::kind::disconnected, why};
}

/// Returns the error for a message that is not known to be delivered: it was certainly not
/// delivered, or it may have been.
base::error fate_of(const base::error& why) {
  if (why == net_errc::peer_down)  // it was never sent
    return base::make_error(base::errc::not_handled, "a node", why.to_string());
  return why ? why : base::error(net_errc::perhaps_delivered);
}

/// Returns the limit of open requests. A stack with as many questions as it allows takes no more
/// messages. So requests are refused before that limit, and questions for names find room.
std::uint32_t most_requests(const node_settings& node, const link_settings& s) {
  const std::uint32_t all = std::min(node.most_questions, s.questions.most_questions);
  return std::max(all - all / 8, 1u);
}

/// Returns limits that an honest peer never reaches while it reads.
outbox::limits limits_of(const node_settings& node, const link_settings& s) {
  const auto most_bytes = static_cast<std::int64_t>(
      std::max(2 * node.most_bytes_waiting, std::size_t{node.most_questions} * large_refusal));
  return {.refused_bytes = most_bytes,
          .ends = 4 * std::int64_t{node.most_watches} + most_unasked,
          .grants = 4 * std::int64_t{node.most_exports} + most_unasked,
          .signals = std::max(s.mailbox.system_messages / 2, 1u)};
}

}  // namespace

link::link(std::shared_ptr<node_core> node, const named_stack& kind, const link_settings& s,
           carrier& below, connection self, std::string dialled)
    : node_(std::move(node)),
      self_(std::move(self)),
      dialled_(std::move(dialled)),
      link_(kind.make(*this, below, s)),
      most_requests_(most_requests(node_->settings(), s)),
      asker_(new answering_cell(
          node_->env(), self_,
          {link_->header_size(), s.session.self.incarnation * 0x9e3779b97f4a7c15u},
          node_->settings())),
      exports_(node_->settings().seed == 0 ? 0
                                           : node_->settings().seed + s.session.self.incarnation),
      hash_(peer_hash::secret_of(node_->settings().seed)),
      proxies_(self_, *asker_, hash_, node_->settings().patience),
      handles_(exports_, proxies_, node_->settings().most_exports),
      questions_(node_->env(), hash_),
      asked_(asker_->wanted(), hash_),
      watches_(*this, hash_, node_->settings().most_watches),
      outbox_(asker_->slot(), *link_, *this, limits_of(node_->settings(), s),
              &remote_cell::lose_entry),
      budget_(node_->source().now()),
      lanes_(*this, node_->env(), node_->source(), self_, budget_) {}

link::~link() {
  close(why_ ? why_ : base::error(net_errc::node_down));
  asker_->drop_strong();
}

std::unique_ptr<hosted> make_link(std::shared_ptr<node_core> node, const named_stack& kind,
                                  const link_settings& s, carrier& below, const connection& self,
                                  std::string dialled) {
  return std::make_unique<link>(std::move(node), kind, s, below, self, std::move(dialled));
}

// ---- its life -----------------------------------------------------------------------------------

void link::let_use() {
  is_used_ = true;
  use_by_ = base::instant::never();
  post({.kind = frame_kind::credit, .number = node_->settings().most_under_way}, empty_payload());
  flush();
}

void link::finish(const base::error& why) {
  leaves_for_ = why;
  leave_if_done();
}

/// Leaves a link that the peer had to let be used. While its stream is lost, the session decides.
void link::end_unused(base::instant now) {
  use_by_ = base::instant::never();
  if (self_.is_connected())
    leave(base::make_error(base::errc::timeout, peer_.to_string(),
                           "it has not let its link be used in time"));
  else
    use_by_ = now + node_->settings().accept.admission;
}

void link::leave_if_done() {
  if (!leaves_for_ || is_closed_ || !outbox_.is_idle() || credit_.under_way() != 0) return;
  if (!lanes_.empty()) return;  // the peer would not learn whether held messages were delivered
  leave(std::exchange(leaves_for_, {}));
}

void link::leave(const base::error& why) {
  if (!why_) why_ = why;
  link_->leave(now());
}

void link::shut(const base::error& why) {
  is_shut_ = true;
  leave(why);
}

void link::on_event(const link_event& e) {
  using enum link_event::kind;
  switch (e.what) {
    case opened:
      if (const hello* const who = link_->peer()) peer_ = who->self;
      names_ = node_->names_of(peer_.node);
      lanes_.counts_names_for(names_);
      is_open_ = true;
      if (dialled_.empty()) use_by_ = now() + node_->settings().accept.admission;
      return node_->opened(*this);
    case has_session:
      if (const hello* const who = link_->peer()) peer_ = who->self;
      return node_->has_session(*this);
    case suspected: return notice({peer_evidence::kind::suspected});
    case trusted: return notice({peer_evidence::kind::trusted});
    case paused:
      return notice({peer_evidence::kind::observer_paused,
                     {},
                     base::duration::nanoseconds(static_cast<std::int64_t>(e.number))});
    case disconnected: return notice(evidence_of(e.why));
    case resumed:
      if (!dialled_.empty()) node_->reached(dialled_);
      notice({peer_evidence::kind::resumed});
      [[fallthrough]];
    case writable: return holds_ ? static_cast<void>(flushes_ = true) : flush();
    case delivered: return settle(e.number, {});
    case unknown: return settle(e.number, fate_of(e.why));
    case down:
      if (!why_ && is_open_)
        why_ = base::make_error(net_errc::node_down, peer_.to_string(), e.why.to_string());
      if (!why_) why_ = e.why ? e.why : base::error(net_errc::peer_down);
      return close(why_);
    default: return;
  }
}

void link::hint(const base::error& why) {
  if (why && !is_open_) not_reached(why);  // once it is open, no event would take the error back
  notice(evidence_of(why));
}

void link::not_reached(const base::error& why) {
  const bool is_spare = is_open_ && !is_used_;  // another link reaches the endpoint
  if (!is_closed_ && !is_spare && !dialled_.empty()) node_->not_reached(dialled_, why);
}

void link::notice(const peer_evidence& what) {
  if (is_used_ && !is_closed_) node_->noticed(*this, what);
}

void link::ended(const base::error& why) noexcept {
  if (!why_ && why) why_ = why;
  close(why_ ? why_ : base::error(net_errc::node_down));
}

/// Answers all open requests and ends all watches. Only the first call does anything.
void link::close(const base::error& why) noexcept {
  if (std::exchange(is_closed_, true)) return;
  deliver_held();
  lanes_.end();
  is_shut_ = true;
  const base::exit_reason reason(why);
  for (outgoing& m : outbox_.close()) give_up(m, why);
  send_waiting();  // loses the entries of the slot, since the link is closed
  questions_.end(base::make_error(net_errc::perhaps_delivered, "a node", why.to_string()));
  credit_.end(base::make_error(net_errc::perhaps_delivered, "a node"));
  for (const auto& [number, a] : asked_.end())
    if (core::cell* const to = core::handle_access::get(a.handed_to))
      core::tell_withdrawn(*to, *asker_, number);
  for (const auto& [id, proxy] : proxies_) proxy->end(reason);
  end_watches(reason);
  proxies_.clear();
  exports_.clear();
  node_->closed(*this, why);
}

// ---- the stack ----------------------------------------------------------------------------------

base::instant link::now() const { return node_->source().now(); }
base::instant link::actors_now() const { return node_->env().clock->now(); }

void link::connected(base::instant now) {
  not_reached({});
  link_->connected(now);
}
void link::disconnected(const base::error& why, base::instant now) {
  if (why) not_reached(why);
  link_->disconnected(why, now);
}
void link::receive(std::span<const std::byte> bytes, base::instant now) {
  from_below([&] { link_->receive(bytes, now); });
}
void link::carrier_writable(base::instant now) {
  from_below([&] { link_->carrier_writable(now); });
}
void link::path_changed(std::size_t largest, base::instant now) {
  link_->path_changed(largest, now);
}
void link::over(const base::error& why, base::instant now) { link_->over(why, now); }
base::instant link::deadline() const {
  return std::min({link_->deadline(), next_look_, lanes_.deadline(), use_by_});
}

void link::advance(base::instant now) {
  if (next_look_ <= now) {
    next_look_ = base::instant::never();
    grant_owed();
  }
  if (use_by_ <= now) end_unused(now);
  if (std::min(link_->deadline(), lanes_.deadline()) > now) return;
  from_below([&] {
    if (link_->deadline() <= now) link_->advance(now);
  });
}

}  // namespace garrick::net::internal
