// A link's life, and what goes out.
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

/// Bytes of an error with a text as long as one that is shown (printable.hpp).
constexpr std::size_t large_refusal = 4096 + 512;
/// What waits for a peer that may watch nobody, or know nobody.
constexpr std::int64_t most_unasked = 1u << 20;

/// What the end of a connection says, or the attempt to have another.
peer_evidence evidence_of(const base::error& why) {
  const bool is_away = why == net_errc::unreachable || why == net_errc::refused;
  return {is_away ? peer_evidence::kind::unreachable : peer_evidence::kind::disconnected, why};
}

/// What has become of a message that is not known to be delivered: nobody there has it, or perhaps.
base::error fate_of(const base::error& why) {
  if (why == net_errc::peer_down)  // it was never sent
    return base::make_error(base::errc::not_handled, "a node", why.to_string());
  return why ? why : base::error(net_errc::perhaps_delivered);
}

/// With as many questions as the stack allows it takes no message any more, so requests are turned
/// away before, and names find room.
std::uint32_t most_requests(const node_settings& node, const link_settings& s) {
  const std::uint32_t all = std::min(node.most_questions, s.questions.most_questions);
  return std::max(all - all / 8, 1u);
}

/// Those that no honest peer reaches which reads what it is sent.
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
      proxies_(0, hash_),
      questions_(node_->env(), hash_),
      asked_(asker_->wanted(), hash_),
      watches_(*this, hash_, node_->settings().most_watches),
      outbox_(asker_->slot(), *link_, *this, limits_of(node_->settings(), s),
              &remote_cell::lose_entry),
      lanes_(*this, node_->env(), node_->source(), self_) {}

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
  may_send_ = true;
  post({.kind = frame_kind::credit, .number = node_->settings().most_under_way}, empty_payload());
  flush();
}

void link::finish(const base::error& why) {
  leaves_for_ = why;
  leave_if_done();
}

void link::leave_if_done() {
  if (!leaves_for_ || is_closed_ || !outbox_.is_idle() || credit_.under_way() != 0) return;
  if (!lanes_.empty()) return;  // the peer would not know whether that was delivered
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
      is_open_ = true;
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
    case resumed: notice({peer_evidence::kind::resumed}); [[fallthrough]];
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
  if (why) not_reached(why);
  notice(evidence_of(why));
}

void link::not_reached(const base::error& why) {
  if (!is_open_ && !is_closed_ && !dialled_.empty()) node_->not_reached(dialled_, why);
}

void link::notice(const peer_evidence& what) {
  if (is_used_ && !is_closed_) node_->noticed(*this, what);
}

void link::ended(const base::error& why) noexcept {
  if (!why_ && why) why_ = why;
  close(why_ ? why_ : base::error(net_errc::node_down));
}

/// All that is open is answered, everybody who watches is told. Once.
void link::close(const base::error& why) noexcept {
  if (std::exchange(is_closed_, true)) return;
  deliver_held();
  lanes_.end();
  is_shut_ = true;
  const base::exit_reason reason(why);
  for (outgoing& m : outbox_.close()) give_up(m, why);
  send_waiting();  // nowhere
  questions_.end(base::make_error(net_errc::perhaps_delivered, "a node", why.to_string()));
  credit_.end(base::make_error(net_errc::perhaps_delivered, "a node"));
  for (const auto& [number, a] : asked_.end())
    if (core::cell* const to = core::handle_access::get(a.handed_to))
      core::tell_withdrawn(*to, *asker_, number);
  for (const auto& [id, proxy] : proxies_) proxy->end(reason);
  end_watches(reason);
  for (const auto& [id, proxy] : std::exchange(proxies_, {})) proxy->drop_weak();
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
  return std::min({link_->deadline(), next_look_, lanes_.deadline()});
}

void link::advance(base::instant now) {
  if (next_look_ <= now) {
    next_look_ = base::instant::never();
    grant_owed();
  }
  if (std::min(link_->deadline(), lanes_.deadline()) > now) return;
  from_below([&] {
    if (link_->deadline() <= now) link_->advance(now);
  });
}

// ---- what goes out ------------------------------------------------------------------------------

packet link::empty_payload() const {
  return packet::with_room(frame_room + link_->header_size(), 0);
}

base::result<packet> link::written(const content_codec& how, const void* value, frame& f,
                                   std::size_t largest) {
  byte_writer out({.front = frame_room + link_->header_size(),
                   .largest = largest,
                   .context = codec_context(static_cast<handle_porter&>(*this))});
  newly_sent_.clear();
  brings_home_ = false;
  const core::no_wait_scope scope;  // a codec may send, and this link is held meanwhile
  base::result<packet> p = [&]() -> base::result<packet> {
    try {
      how.write(out, value);
    } catch (const std::exception& e) {  // a user's codec
      return base::make_error(net_errc::not_encodable, e.what());
    } catch (...) { return base::make_error(net_errc::not_encodable, "its codec has thrown"); }
    append_numbers(out, newly_sent_);
    return std::move(out).finish();
  }();
  f.handles = static_cast<std::uint32_t>(newly_sent_.size());
  if (!p)
    for (const actor_id& id : newly_sent_) static_cast<void>(exports_.release(id, 1));
  return p;
}

void link::post(const frame& f, packet payload) { post(to_outgoing(f, std::move(payload)), now()); }

/// With handles in the payload. A handle that comes home there names what must not be gone when it
/// comes, so a release waits for that.
void link::post_written(outgoing m) {
  if (brings_home_) m.report = credit_.begin_frame();
  post(std::move(m), now());
}

void link::post(outgoing m, base::instant at) {
  if (is_closed_) return give_up(m, why_);
  outbox_.post(std::move(m), at);
}

void link::flush() {
  if (outbox_.flush(now())) send_waiting();
}

/// False: a request that has waited to be sent, and nobody wants its answer any more; it was given
/// up. Else it says how much of its time is left now.
bool link::may_leave(outgoing& m) {
  base::result<frame> f = decode_frame(m.bytes.bytes());
  if (!f || f->kind != frame_kind::request) return true;
  const questions::place at = questions_.find(f->number);
  if (!questions_.is_open(at)) return give_up(m, {}), false;
  if (at->second.until.is_never()) return true;
  f->time_left = at->second.until - actors_now();
  if (*f->time_left <= base::duration()) return give_up(m, base::errc::timeout), false;
  m.bytes.drop_front(static_cast<std::size_t>(f->payload.data() - m.bytes.bytes().data()));
  prepend_header(*f, m.bytes);
  return true;
}

/// The stack has not taken it, so nobody there has seen it.
void link::give_up(outgoing& m, const base::error& why) {
  const base::error told =
      base::make_error(base::errc::not_handled, "a node", why ? why.to_string() : "");
  const bool says_all = why == net_errc::too_large || why == base::errc::timeout;
  base::error because = says_all ? why : told;
  if (const base::result<frame> f = decode_frame(m.bytes.bytes())) {
    if (why == net_errc::too_large) because = why.at(content_name(*f));
    for (std::uint32_t i = 0; i < f->handles; ++i)
      static_cast<void>(exports_.release(number_behind(*f, i), 1));
    const bool takes_credit = f->kind == frame_kind::message || f->kind == frame_kind::request;
    // The receiver's credit, which only what has come there is granted anew for.
    if (const auto to = takes_credit ? proxies_.find(f->receiver) : proxies_.end();
        to != proxies_.end())
      to->second->grant_credit(1);
    // The numbers of other kinds are the peer's.
    const bool asks = f->kind == frame_kind::request || f->kind == frame_kind::resolve ||
                      f->kind == frame_kind::spawn;
    const questions::place at = questions_.find(asks ? f->number : 0);
    if (questions_.is_open(at)) {
      questions_.answer(questions_.take(at), because);
    } else if (f->kind == frame_kind::response && why == net_errc::too_large) {
      ++not_encoded_;
      outgoing instead = refusal_of({.kind = frame_kind::request,
                                     .receiver = f->sender,
                                     .sender = f->receiver,
                                     .number = f->number},
                                    because, link_->header_size());
      instead.lane = m.lane;
      post(std::move(instead), now());
    }
  }
  if (m.report != 0) settle(m.report, because);
}

/// What was sent with this report is in the mailbox, or it is not known, or it is not.
void link::settle(std::uint64_t report, const base::error& why) {
  if (report == outbox::signal_report) {
    outbox_.signal_settled();
    return send_signals();
  }
  if (!credit_.settle(report, why)) return;
  if (!holds_) credit_.give_back();
  post_releases();
}

/// What one thread sends stays in order: `flush` goes on with what waits.
std::uint32_t link::send(remote_cell& to, envelope_ptr& e, base::instant until) {
  if (!outbox_.is_behind()) return send_now(to, e, until, answering_cell::whose_lane(*e), 0);
  const core::no_wait_scope scope;  // as in `written`
  std::uint32_t weight = 1;
  // The one who has left what waits may have had no memory for a visit, and taken it away.
  if (to.leave_waiting(std::move(e), until, weight)) asker_->bring_visit();
  return weight;
}

/// Back again, in what the peer says of a message: believed for a dead letter, and for no more.
std::uint64_t link::local_sender(const actor_id& id) const noexcept {
  constexpr std::uint64_t inverse = 0xf1de83e19937733du;
  static_assert(0x9e3779b97f4a7c15u * inverse == 1);
  return id.high == 1 ? (id.low ^ asker_->how().salt) * inverse - 1 : 0;
}

/// In the lane of `by`.
std::uint32_t link::send_now(remote_cell& to, envelope_ptr& e, base::instant until,
                             std::uint64_t by, std::uint32_t counted_as, packet payload) {
  const bool may_be_left = counted_as == 0 && !to.hints().needs_link(e->type);
  counted_as = std::max(counted_as, 1u);
  const auto lose = [&](base::error why) {
    to.lost(std::move(e), std::move(why), counted_as);
    return counted_as;
  };
  if (is_closed_)
    return lose(base::make_error(base::errc::not_handled, to.name(), why_.to_string()));
  const bool is_limited = !until.is_never();
  const base::duration time_left = is_limited ? until - actors_now() : base::duration::infinite();
  if (time_left <= base::duration()) return to.overdue(e, counted_as), counted_as;
  const signature_codec* const s = to.by_content(e->type);
  if (s == nullptr)
    return lose(
        base::make_error(net_errc::not_encodable, e->type->name,
                         "no protocol of the receiver that was seen here has this message"));
  if (e->is(envelope_flag::request) && questions_.size() >= most_requests_)
    return lose(base::make_error(base::errc::overload, to.name(),
                                 "too many requests to its node wait for their answers"));
  frame f{.kind = frame_kind::message, .receiver = to.id(), .type = s->message.type};
  base::result<packet> p =
      !payload.empty() ? std::move(payload)
                       : written(s->message, core::content_pointer(e.get()), f,
                                 may_be_left ? most_encoded_inside : writer_settings().largest);
  if (!p && may_be_left && p.error() == net_errc::too_large)
    return to.hints().set_large(e->type), 0;
  if (!p) return lose(p.error().at(e->type->name));
  const std::uint32_t weight = std::max(asker_->weight_of(p->size()), counted_as);
  asker_->weigh(weight, counted_as);
  f.sender = sender_id(by);
  const lane_number lane = net::lane_of(f);
  f.urgent = e->is(envelope_flag::urgent);
  const base::message_type* type = e->type;
  if (e->is(envelope_flag::request)) {
    f.kind = frame_kind::request;
    f.number = ++next_number_;
    const std::uint64_t asker = e->requester->id();
    // By the number by which messages reach who asks, the peer chooses a lane for the answer.
    f.sender = exports_.number_of(core::handle_access::make_address(e->requester))
                   .value_or(sender_id(asker));
    type = nullptr;  // the answer tells
    if (is_limited) f.time_left = time_left;
    questions_.ask(f.number, *e, *s, lane, until);
  }
  outgoing m = to_outgoing(f, std::move(*p));
  m.lane = lane;
  m.report = credit_.begin(to.local_id(), type, by, weight);
  post(std::move(m), now());
  if (is_limited) outbox_.look_before_leaving();
  return weight;
}

void link::send_waiting() {
  if (!outbox_.is_behind()) return;
  const base::instant at = now();
  outbox_.take([&](mail_slot::entry& e) { send_taken(e, at); });
}

void link::send_taken(mail_slot::entry& e, base::instant at) {
  using enum mail_slot::kind;
  if (e.as == answer) return answer_taken(e);
  auto& to = static_cast<remote_cell&>(*e.what.to);
  if (e.as == release) return released_now(to);
  if (e.as == signal) return signal_now(to, std::move(e.envelope));
  if (envelope_ptr message = std::move(e.envelope))
    return static_cast<void>(
        send_now(to, message, e.what.until, e.what.sender, e.what.weight, std::move(e.whole)));
  const std::uint32_t weight = asker_->weight_of(e.size());
  if (is_closed_)
    return to.lost(e.what.type, e.what.sender, weight,
                   base::make_error(base::errc::not_handled, to.name(), why_.to_string()));
  packet p = e.whole.empty() ? packet::copy_of(e.bytes, asker_->how().headers) : std::move(e.whole);
  outgoing m{std::move(p), e.what.lane};
  m.report = credit_.begin(to.local_id(), e.what.type, e.what.sender, weight);
  post(std::move(m), at);
}

void link::released(remote_cell& who) {
  if (!outbox_.is_behind()) return released_now(who);
  envelope_ptr nothing;
  static_cast<void>(asker_->slot().add({.to = &who}, nothing, mail_slot::kind::release));
}

void link::released_now(remote_cell& who) {
  if (is_closed_) return;
  // No grant finds it any more: who pauses for one, as its last holder may, goes on.
  if (const std::int64_t left = who.credit(); left < 0)
    who.grant_credit(static_cast<std::uint32_t>(-left));
  const auto at = proxies_.find(who.id());
  const bool is_listed = at != proxies_.end() && at->second == &who;
  if (const std::uint64_t n = std::exchange(who.received, 0); n != 0) {
    credit_.release(who.id(), n);
    post_releases();
  }
  if (!is_listed) return;
  proxies_.erase(at);
  who.drop_weak();
}

void link::post_releases() {
  while (!is_closed_) {
    const std::optional<credit::release_order> next = credit_.next_release();
    if (!next) return;
    post({.kind = frame_kind::release, .receiver = next->who, .number = next->number},
         empty_payload());
  }
}

}  // namespace garrick::net::internal
