// Receiving: frames become messages, answers, and changes of the link's tables.
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/core/seam/running.hpp>
#include <garrick/core/seam/signals.hpp>
#include <garrick/core/send.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/node/link/internal/link.hpp>
#include <garrick/net/printable.hpp>
#include <garrick/net/wire/orders.hpp>
#include <garrick/net/wire/schema.hpp>
#include <garrick/system/names/registry.hpp>

#include <algorithm>
#include <utility>

namespace garrick::net::internal {

using core::envelope_flag;
using core::envelope_ptr;

namespace {

/// The time between two looks at mailboxes that are too long for a grant.
constexpr base::duration look_again = base::duration::milliseconds(1);

/// Returns the bytes of a frame that add to the budget for decoding: those of messages and answers.
/// The description of a protocol takes more time than other bytes, so it pays by time alone.
std::size_t bytes_that_pay(const frame& f) noexcept {
  return f.kind <= frame_kind::response ? f.payload.size() : 0;
}

}  // namespace

bool link::on_message(const incoming& m) {
  if (is_shut_ || m.decoded == nullptr) return true;
  if (!is_used_ && !begins_use()) [[unlikely]]
    return true;
  budget_.received(bytes_that_pay(*m.decoded));
  if (m.block != nullptr || !lanes_.empty() || budget_.is_overdrawn()) [[unlikely]]
    if (!m.made_here && lanes_.keep(m)) return false;
  read(*m.decoded, m.is_late);
  return true;
}

/// Lets the link be used, if the peer decides that: its first frame says so. This is a `credit`,
/// or a frame of another lane that has overtaken it. If this end decides, it has not chosen this
/// link, so the peer may not send.
bool link::begins_use() {
  if (node_->self() < peer_)
    shut(base::make_error(net_errc::denied, peer_.to_string(),
                          "it has sent on a link that is not in use"));
  else
    node_->usable(*this);
  return !is_shut_;
}

void link::read(const frame& f, bool is_late) {
  handles_.expect_none();
  if (f.handles == 0) [[likely]]
    return on_frame(f);
  handles_.expect(f);
  if (!is_late) on_frame(f);
  release_unread();
}

void link::on_frame(const frame& f) {
  // Other frames must not overtake messages, and may remove entries to which `held_` points.
  if (f.kind != frame_kind::message && f.kind != frame_kind::request) hand_over();
  switch (f.kind) {
    case frame_kind::message:
    case frame_kind::request: return on_user_message(f);
    case frame_kind::response:
    case frame_kind::error: return on_answer(f);
    case frame_kind::cancel: return on_cancel(f);
    case frame_kind::link: return on_watch(f, 0);
    case frame_kind::unlink: return on_unwatch(f, 0);
    case frame_kind::monitor: return f.number != 0 ? on_watch(f, f.number) : void();
    case frame_kind::demonitor: return on_unwatch(f, f.number);
    case frame_kind::down: return on_down(f);
    case frame_kind::exit: return on_exit(f);
    case frame_kind::kill: return on_kill(f);
    case frame_kind::release: return on_release(f);
    case frame_kind::credit: return on_credit(f);
    case frame_kind::resolve: return on_resolve(f);
    case frame_kind::resolved: return on_resolved(f);
    case frame_kind::spawn: return on_spawn(f);
    case frame_kind::spawned: return on_spawned(f);
    case frame_kind::decode_error: return on_decode_error(f);
    case frame_kind::marker:
    case frame_kind::marked: return;  // this end never asks for a marker
  }
}

/// Releases the handles that were not read: the peer holds their actors until then.
void link::release_unread() {
  while (const std::optional<actor_id> id = handles_.next_unread())
    if (!is_closed_)
      post({.kind = frame_kind::release, .receiver = *id, .number = 1}, empty_payload());
}

void link::refuse(const frame& f, const base::error& why) {
  if (f.kind == frame_kind::message && !f.receiver) return;
  post(refusal_of(f, why, link_->header_size()), now());
}

void link::on_user_message(const frame& f) {
  exports::entry* const x = exports_.find(f.receiver);
  if (x == nullptr) {
    ++to_nobody_;
    return refuse(f, base::make_error(base::errc::not_handled, "a node",
                                      "no actor of this node has this number"));
  }
  if (!exports::took(*x, size_behind_header(f)))
    return shut(base::make_error(base::errc::overload, peer_.to_string(),
                                 "the peer has sent more than twice its credit"));
  if (!take_in(f, *x)) return is_closed_ ? void() : grant_or_owe(f.receiver, *x, held_.size());
  if (!holds_ || held_.size() == most_held) hand_over();
}

bool link::take_in(const frame& f, exports::entry& x) {
  const auto refuse = [&](const base::error& why) {
    this->refuse(f, why);
    return false;
  };
  const signature_codec* const s = x.by_type(f.type);
  if (s == nullptr)
    return refuse(base::make_error(base::errc::unexpected_message, "a node",
                                   "the receiver's protocol has no such message"));
  if (f.kind == frame_kind::request) {
    // The number of a cancelled request stays in use while the request may be in a mailbox, or on
    // its way to a third node.
    if (!asked_.is_free(f.number))
      return refuse(base::make_error(net_errc::decode_failed, "a request's number"));
    if (unanswered() >= node_->settings().most_questions)
      return refuse(base::make_error(base::errc::overload, "a node", "too many open requests"));
  }
  base::result<core::envelope*> made = read_content(s->message, f);
  if (!made) return refuse(made.error());
  envelope_ptr e(*made);
  if (f.kind == frame_kind::request) {
    const auto until = f.time_left ? std::optional(actors_now() + *f.time_left) : std::nullopt;
    asked_.open(f.number, {f.sender, f.receiver, s, x.who.id()}, until);
    asker_->learn(s->answer);
    asker_->add_strong();
    e->requester = asker_;
    e->word |= f.number;
    e->set(envelope_flag::request);
    e->set(envelope_flag::revocable);
  }
  if (f.urgent) e->set(envelope_flag::urgent);
  exports::delivers(x, size_behind_header(f), read_cost_, f.urgent);
  held_.push_back({&x, f.receiver, std::move(e)});
  return true;
}

const content_codec* link::codec_of(const frame& f) {
  if (f.kind == frame_kind::message || f.kind == frame_kind::request) {
    exports::entry* const x = exports_.find(f.receiver);
    const signature_codec* const s = x != nullptr ? x->by_type(f.type) : nullptr;
    return s != nullptr ? &s->message : nullptr;
  }
  if (f.kind != frame_kind::response) return nullptr;
  const questions::place at = questions_.find(f.number);
  const signature_codec* const s = questions_.is_open(at) ? at->second.signature : nullptr;
  return s != nullptr && s->answer.type == f.type ? &s->answer : nullptr;
}

void link::read_held(const frame& f, bool is_late, decoding* by) {
  struct until_read {
    decoding*& of;
    ~until_read() { of = nullptr; }
  };
  const until_read at_end{decoded_ = by};
  if (!is_shut_) read(f, is_late);
}

void link::decoded() {
  if (is_closed_) return;
  const auto end = [&](std::string_view why) noexcept {
    // An exception ends the link, as it does in a visit that has waited in line.
    try {
      shut(base::make_error(net_errc::owner_failed, "a link", why));
    } catch (...) { ended(net_errc::owner_failed); }
  };
  try {
    from_below([] {});  // begins with the decoded messages
  } catch (const std::exception& e) { end(e.what()); } catch (...) {
    end("a layer has thrown");
  }
}

/// Returns the value of the frame, which may be decoded already.
base::result<core::envelope*> link::read_content(const content_codec& how, const frame& f) {
  std::size_t cost = decoded_ != nullptr ? decoded_->cost() : 0;
  base::result<core::envelope*> made =
      decoded_ != nullptr ? decoded_->result(how)
                          : read_payload(how, f.payload, static_cast<handle_porter&>(handles_),
                                         names_.get(), &cost);
  budget_.pay(cost);
  read_cost_ = cost;
  if (!made) ++not_decoded_;
  return made;
}

/// Puts all held messages into their mailboxes, and then wakes the actors that sleep. This thread
/// never waits: a mailbox at its hard limit loses the message, as it does for a local sender that
/// may not wait.
void link::deliver_held() noexcept {
  if (held_.empty()) return;
  auto& thread = base::this_thread;
  ++thread.no_wait;
  ++thread.has_waited;  // the senders have waited for credit
  {
    std::optional<core::waking_together> scope(std::in_place);
    for (held_message& m : held_) {
      if (m.what == nullptr) continue;
      core::cell& to = *core::handle_access::get(m.to->who);
      // Relaying a message may take a system call, so sleeping actors are woken before it.
      if (to.is_elsewhere()) scope.reset();
      const std::uint64_t relayed =
          to.is_elsewhere() && m.what->is(envelope_flag::request) ? m.what->id() : 0;
      if (m.what->is(envelope_flag::urgent))
        to.deliver_urgent(m.what.release());
      else
        to.deliver(m.what.release());
      if (relayed != 0) handed_on(relayed, to);
      if (!scope) scope.emplace();
    }
  }
  --thread.has_waited;
  --thread.no_wait;
}

void link::burst(bool is) {
  in_burst_ = is;
  if (!is) let_go();
}

void link::let_go() {
  holds_ = false;
  hand_over();
  send_signals();
  if (std::exchange(flushes_, false)) flush();
  if (!is_shut_ && outbox_.is_unread())
    shut(base::make_error(net_errc::node_down, peer_.to_string(),
                          "the peer does not read its frames"));
  leave_if_done();
}

/// A request with an answer in the slot is also in `asked_`, unless the peer has cancelled it. The
/// peer may cancel all, so the larger of the two numbers counts: for an honest peer neither exceeds
/// its open requests.
std::size_t link::unanswered() const noexcept {
  return std::max(asked_.size(), outbox_.answers_in_slot()) +
         static_cast<std::size_t>(outbox_.waiting(outbox::frame_class::answers));
}

void link::hand_over() {
  credit_.give_back();
  deliver_held();
  // A posted frame may end the link, and then no entry exists any more.
  for (std::size_t i = 0; i < held_.size() && !is_closed_; ++i)
    grant_or_owe(held_[i].id, *held_[i].to, 0);
  // A link at rest keeps no room for a thousand messages.
  const bool is_roomy = held_.capacity() > 64 && held_.size() < held_.capacity() / 8;
  held_.clear();
  if (is_roomy) held_.shrink_to_fit();
}

bool link::keeps_up(const exports::entry& x) const noexcept {
  return exports::keeps_up(x, [&] {
    return std::count_if(held_.begin(), held_.end(),
                         [&](const held_message& m) { return m.to == &x; });
  });
}

void link::grant(const actor_id& id, std::uint32_t number, std::uint64_t bytes) {
  if (number == 0 && bytes == 0) return;
  post({.kind = frame_kind::credit, .receiver = id, .number = number, .bytes = bytes},
       empty_payload());
}

void link::grant_or_owe(const actor_id& id, exports::entry& x, std::size_t fresh) {
  const bool is_due = exports::is_due(x);
  const bool are_bytes_due = exports::are_bytes_due(x);
  if (!is_due && !are_bytes_due) return;
  const std::uint32_t number = is_due ? exports_.grant(id, x, keeps_up(x)) : 0;
  const std::uint64_t bytes = are_bytes_due ? exports_.grant_bytes(id, x, fresh) : 0;
  if (exports_.owes() && next_look_.is_never()) next_look_ = now() + look_again;
  grant(id, number, bytes);
}

/// Looks at the actors with an owed grant, since their mailboxes may be short by now.
void link::grant_owed() {
  hand_over();  // the length of a mailbox counts only with all incoming messages in it
  for (const actor_id& id : exports_.take_owed())
    if (exports::entry* const x = exports_.find(id)) {
      grant(id, exports::grant_to_stuck(*x, keeps_up(*x)), exports::grant_bytes_to_stuck(*x));
      if (!is_closed_) grant_or_owe(id, *x, 0);
    }
}

void link::on_credit(const frame& f) {
  if (!f.receiver) return;  // the link is in use by now (`begins_use`)
  remote_cell* const to = proxies_.find(f.receiver);
  if (to == nullptr) return;
  if (f.bytes != 0) to->grant_bytes(f.bytes);
  if (f.number != 0)
    to->grant_credit(static_cast<std::uint32_t>(std::min<std::uint64_t>(f.number, 1u << 20)));
}

void link::on_release(const frame& f) {
  exports::entry* const x = exports_.released_by_peer(f.receiver, f.number);
  if (x != nullptr) grant_or_owe(f.receiver, *x, 0);
}

/// Cancels a request, since the peer's asker waits no more. A request that still waits here will
/// not be handled.
void link::on_cancel(const frame& f) {
  if (const core::any_ref elsewhere = asked_.cancel(f.number))
    core::tell_withdrawn(*core::handle_access::get(elsewhere), *asker_, f.number);
}

void link::handed_on(std::uint64_t request, core::cell& proxy) {
  if (!asked_.hand_on(request, proxy)) core::tell_withdrawn(proxy, *asker_, request);
}

// ---- answers ------------------------------------------------------------------------------------

void link::on_answer(const frame& f) {
  const questions::place at = questions_.find(f.number);
  if (!questions_.is_open(at)) return;
  questions::question q = questions_.take(at);
  if (f.kind == frame_kind::error)
    return questions_.answer(std::move(q), error_of(f, names_.get()));
  if (q.signature == nullptr || f.type != q.signature->answer.type)
    return questions_.answer(std::move(q), base::make_error(net_errc::decode_failed, "a response",
                                                            "it is of another type"));
  const content_codec& how = q.signature->answer;
  questions_.answer(std::move(q), read_content(how, f));
}

void link::on_decode_error(const frame& f) {
  // The receiver may be unknown by now, since its last handle here may be gone. The message was
  // lost all the same.
  const remote_cell* const to = proxies_.find(f.sender);
  const signature_codec* const s = to != nullptr ? to->by_type(f.type) : nullptr;
  node_->env().dead_letter(
      {.sender = local_sender(f.receiver),
       .receiver = to != nullptr ? to->local_id() : 0,
       .type = s != nullptr ? s->message.content->name : "a message to another node",
       .descriptor = s != nullptr ? s->message.content : nullptr,
       .reason = error_of(f, names_.get())});
}

/// Returns the name of a sent frame's content type, or an empty name if it is not known any more.
std::string_view link::content_name(const frame& f) {
  if (f.kind == frame_kind::response) {
    const exports::entry* const x = exports_.find(f.sender);
    const content_codec* const answer = x != nullptr ? x->answer_by_type(f.type) : nullptr;
    return answer != nullptr ? answer->content->name : std::string_view();
  }
  const remote_cell* const to = proxies_.find(f.receiver);
  const signature_codec* const s = to != nullptr ? to->by_type(f.type) : nullptr;
  return s != nullptr ? s->message.content->name : std::string_view();
}

// ---- figures ------------------------------------------------------------------------------------

/// Returns the counts of the layers, the sizes of the tables, and the numbers of frames that failed
/// or were refused.
std::vector<link_count> link::counters() const {
  std::vector<link_count> all = link_->counters();
  const auto add = [&](std::string_view name, std::size_t n) { all.push_back({"node", name, n}); };
  add("exports", exports_.size());
  add("proxies", proxies_.size());
  add("spawned", exports_.spawned());
  add("questions", questions_.size());
  add("asked", asked_.size());
  add("unanswered", unanswered());
  add("wanted", asker_->wanted().size());
  add("monitors", watches_.count_monitors());
  add("links", watches_.count_links());
  add("under_way", credit_.under_way());
  add("held_lanes", lanes_.size());
  add("to_nobody", to_nobody_);
  add("not_decoded", not_decoded_);
  add("not_encoded", not_encoded_);
  add("ends_refused", ends_refused_);
  return all;
}

}  // namespace garrick::net::internal
