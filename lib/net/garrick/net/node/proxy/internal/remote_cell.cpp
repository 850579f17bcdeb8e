#include <garrick/net/node/proxy/internal/remote_cell.hpp>

#include <garrick/base/concurrency/forked.hpp>
#include <garrick/core/seam/answers.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/core/seam/signals.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/internal/link_port.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace garrick::net::internal {

namespace {

/// Shared by all proxies, which are asked for their actors' protocols outside of links, too.
std::mutex tables_mutex;

/// A visit in which the link takes the waiting entries. If the visit is not made, they are lost.
class taking final : public detail::visit {
 public:
  explicit taking(answering_cell& from) noexcept : from_(from) { from_.add_strong(); }
  ~taking() override {
    if (!is_made_) from_.lose_waiting();
    from_.drop_strong();
  }
  void run(hosted& h) override {
    is_made_ = true;
    static_cast<link_port&>(h).send_waiting();
  }

 private:
  answering_cell& from_;
  bool is_made_ = false;
};

/// The porter outside of links. It fails at a handle, which needs a link's tables; but if only the
/// size is wanted, it writes the largest form of a handle.
class no_porter final : public handle_porter {
 public:
  explicit no_porter(bool only_size = false) noexcept : only_size_(only_size) {}
  void write(byte_writer& out, core::cell*, const protocol_table&) override {
    constexpr std::array<std::byte, 24> largest{};
    if (only_size_) return out.bytes(largest);
    out.fail(net_errc::not_encodable);
  }
  core::cell* read(byte_reader& in, const protocol_table&) override {
    in.fail("nothing is read here");
    return nullptr;
  }

 private:
  const bool only_size_;
};

/// Encodes an envelope's content, with room for headers, outside of the link. Returns nothing if
/// only the link can encode it, or can report the error.
std::optional<packet> encoded_outside(const content_codec& how, const core::envelope& e,
                                      std::size_t headers, encoding_hints& hints) {
  no_porter porter;
  byte_writer out({.front = frame_room + headers,
                   .context = codec_context(static_cast<handle_porter&>(porter))});
  try {
    how.write(out, core::content_pointer(&e));
  } catch (...) { return {}; }  // from a user's codec: the link reports it
  base::result<packet> p = std::move(out).finish();
  if (p) {
    hints.note_size(e.type, p->size());
    return std::move(*p);
  }
  if (p.error() != net_errc::too_large) hints.set_needs_link(e.type);
  hints.set_large(nullptr);
  return {};
}

}  // namespace

// A request goes in its asker's lane. An asker that stands for another actor or a thread uses the
// lane of that actor's or thread's messages, so that requests and messages stay in order. A request
// that was handed on goes in a thread's lane: its original thread is no longer known.
std::uint64_t answering_cell::whose_lane(const core::envelope& e) noexcept {
  if (!e.is(core::envelope_flag::request)) return e.sender_id;
  const core::cell& asker = *e.requester;
  if (asker.is_proxy()) return 0;
  if (!asker.asks_for_thread()) return asker.id();
  return e.is(core::envelope_flag::seen) ? 0 : core::detail::running_id();
}

// `wanted_` has room for twice the open requests: withdrawn ones do not count among them, and an
// actor may keep them for long.
answering_cell::answering_cell(core::environment& env, connection link, const encoding& how,
                               const node_settings& s)
    : proxy_cell(env),
      link_(std::move(link)),
      most_under_way_(static_cast<std::uint32_t>(
          std::clamp<std::size_t>(s.most_bytes_waiting / 2, 1, s.most_under_way))),
      bytes_a_credit_(std::max<std::size_t>(s.most_bytes_waiting / 2 / most_under_way_, 1)),
      how_(how),
      slot_(s.most_bytes_waiting),
      wanted_(2 * std::size_t{s.most_questions}, peer_hash(peer_hash::secret_of(s.seed))) {
  need_credit(most_under_way_, s.patience);
}

template <class F>
bool answering_cell::let_in(F f) noexcept {
  detail::entrance* const door = link_.door().get();
  if (env().is_copy()) return true;  // a forked child must not speak to the parent's peers
  if (door == nullptr || door->enter() != detail::entrance::answer::entered) return false;
  const detail::leaving at_end{*door};
  auto& link = static_cast<link_port&>(door->occupant());
  const auto end = [&](std::string_view why) noexcept {
    // An exception ends the link, as in a visit in line (H4 of hosted.hpp). The end reports all
    // open messages.
    try {
      link.shut(base::make_error(net_errc::owner_failed, "a link", why));
    } catch (...) { link.ended(net_errc::owner_failed); }
  };
  try {
    if (slot_.any()) link.send_waiting();
    f(link);
  } catch (const std::exception& e) { end(e.what()); } catch (...) {
    end("a layer has thrown");
  }
  return true;
}

// An actor that finds no room waits, and holds its worker. After one such wait in vain, messages of
// actors beyond the room are lost at once until the peer confirms a message, so workers stay free.
bool answering_cell::take_credit() noexcept {
  const bool may_pause = slot_.has_room();
  const bool holds_worker = !may_pause && base::this_thread.worker_of != nullptr;
  // order: relaxed, as in `confirm`
  const bool is_in_vain = holds_worker && waits_in_vain_.load(std::memory_order_relaxed);
  const bool has_credit = [&] {
    if (!is_in_vain) return take_or_owe(may_pause);
    const core::no_wait_scope scope;
    return take_or_owe(false);
  }();
  if (has_credit) return true;
  if (!slot_.has_room()) {
    // order: as above
    if (holds_worker && base::this_thread.no_wait == 0)
      waits_in_vain_.store(true, std::memory_order_relaxed);
    return false;
  }
  // At the check for a pause there was no room; now there is.
  return holds_worker || credit() >= -std::int64_t{most_under_way_};
}

bool answering_cell::pass_large_ones() noexcept {
  if (credit() > 0) return false;
  // order: relaxed; an estimate, as `credit` is
  if (credit() + large_.load(std::memory_order_relaxed) <= 0 || !slot_.has_room()) return false;
  owe(1);
  return true;
}

void answering_cell::pause() noexcept {
  static_cast<void>(take_or_owe());
  grant(1);  // the message has taken its own already
}

void answering_cell::bring_visit() noexcept {
  try {
    auto all = std::make_unique<taking>(*this);
    // A refused visit is destroyed, and its destructor loses the entries.
    if (link_.door() != nullptr)
      static_cast<void>(link_.door()->wait_in_line(std::move(all), false));
  } catch (const std::bad_alloc&) { lose_waiting(); }
}

void answering_cell::get_taken(bool may_be_free) noexcept {
  const bool is_taken = may_be_free && let_in([](link_port&) {});
  if (!is_taken) bring_visit();  // if the link has ended, the entries are lost there
}

bool answering_cell::leave(core::cell& to, core::envelope_ptr& e, mail_slot::kind as) noexcept {
  try {
    if (slot_.add({.to = &to}, e, as)) bring_visit();
    return true;
  } catch (const std::bad_alloc&) { return false; }
}

void answering_cell::lose_waiting() noexcept {
  mail_slot::batch lost(&remote_cell::lose_entry);
  slot_.take(lost);
}

// Answers are left without a limit: they were requested, so the tables of both ends bound their
// number, and an answer that was lost could not be replaced.
void answering_cell::forward(core::envelope_ptr e, base::instant) noexcept {
  if (!e->is(core::envelope_flag::response)) return;  // no handle could send anything else
  if (env().is_copy()) return;
  const content_codec* how = codec_of(*e);
  const bool stays_outside = how != nullptr && hints_.is_large(e->type);
  const auto answer_inside = [&](link_port& l) {
    const content_codec* const told = l.answer(e);
    if (told != nullptr) how = told;
  };
  const bool was_in = !stays_outside && let_in(answer_inside);
  if (e == nullptr || !leave_answer(e, how)) return;
  get_taken(stays_outside || was_in);
  // The content is freed here, outside of the link: for a large answer this takes its time.
}

const content_codec* answering_cell::codec_of(const core::envelope& answer) const noexcept {
  // order: acquire, pairs with `learn`
  const content_codec* const last = answers_[place_of(answer.type)].load(std::memory_order_acquire);
  return last != nullptr && last->content == answer.type ? last : nullptr;
}

bool answering_cell::leave_answer(core::envelope_ptr& e, const content_codec* how) noexcept {
  const bool fits = how != nullptr && how->content == e->type &&
                    !e->is(core::envelope_flag::failure) && !hints_.needs_link(e->type);
  try {
    if (fits)
      if (std::optional<packet> p = encoded_outside(*how, *e, how_.headers, hints_))
        return slot_.add({.to = this, .type = e->type, .sender = e->id()}, std::move(*p),
                         mail_slot::kind::answer);
    return slot_.add({.to = this}, e, mail_slot::kind::answer);
  } catch (const std::bad_alloc&) { return false; }
}

void answering_cell::forward_signal(core::envelope_ptr e) noexcept {
  if (e->type != &base::message_type_of<core::signals::handed_on>) return;
  try {
    static_cast<void>(link_.insist([e = std::move(e)](hosted& l) {
      const auto& h = *static_cast<const core::signals::handed_on*>(e->raw());
      static_cast<link_port&>(l).handed_on(h.request(), h.proxy());
    }));
  } catch (const std::exception&) {
    // Without memory for a visit in line the signal is dropped, as with a link that has ended.
  }
}

remote_cell::remote_cell(connection link, answering_cell& link_credit, const actor_id& id,
                         base::duration patience)
    : proxy_cell(link_credit.env()), link_(std::move(link)), link_credit_(link_credit), id_(id) {
  need_credit(first_credit, patience);
  link_credit.add_strong();
}

void remote_cell::seen_as(const protocol_table& t) {
  if (std::find(tables_.begin(), tables_.end(), &t) != tables_.end()) return;
  {
    const std::lock_guard lock(tables_mutex);
    tables_.push_back(&t);
  }
  // order: release, pairs with the load in leave_encoded: a table is a constant, once it is made
  if (tables_.size() == 1) first_table_.store(&t, std::memory_order_release);
}

core::understanding remote_cell::understands(const base::message_type* message,
                                             const base::message_type* answer) noexcept {
  const std::lock_guard lock(tables_mutex);
  const signature_codec* const s = by_content(message);
  return s != nullptr && s->answer.content == answer ? core::understanding::yes
                                                     : core::understanding::no;
}

const signature_codec* remote_cell::by_content(const base::message_type* m) const noexcept {
  for (const protocol_table* t : tables_)
    if (const signature_codec* const s = t->by_content(m)) return s;
  return nullptr;
}

const signature_codec* remote_cell::by_type(std::uint64_t type) const noexcept {
  for (const protocol_table* t : tables_)
    if (const signature_codec* const s = t->by_type(type)) return s;
  return nullptr;
}

void remote_cell::overdue(const core::envelope_ptr& e, std::uint32_t weight) noexcept {
  link_credit_.give_back(weight);
  grant(1);
  core::respond_timed_out(core::take_request(e.get()));
}

void remote_cell::forward(core::envelope_ptr e, base::instant until) noexcept {
  if (env().is_copy()) base::refuse_in_child("a message was sent to another node");
  if (bytes_.is_used_up()) [[unlikely]]
    wait_for_bytes();
  const bool passes = link_credit_.pass_large_ones();
  if (!passes && !link_credit_.take_credit()) return lost(std::move(e), too_much_waits());
  std::uint32_t weight = 1;
  const auto send_inside = [&](link_port& l) { weight = l.send(*this, e, until); };
  const bool stays_outside = hints_.is_large(e->type);
  const bool was_in = !stays_outside && link_credit_.let_in(send_inside);
  if ((!was_in || weight == 0) && leave_waiting(std::move(e), until, weight))
    link_credit_.get_taken(stays_outside || was_in);
  if (passes && link_credit_.is_large(weight)) link_credit_.pause();
}

/// The receiver has twice its bytes: the message waits here, since it may be another large one.
/// After one such wait in vain, senders do not wait before the peer grants bytes, so that a stopped
/// receiver does not take all workers.
void remote_cell::wait_for_bytes() noexcept {
  // order: relaxed; a hint
  if (base::this_thread.no_wait != 0 || waits_in_vain_.load(std::memory_order_relaxed)) return;
  if (!take_or_owe(false))
    waits_in_vain_.store(true, std::memory_order_relaxed);  // order: as above
  grant(1);                                                 // the message has taken its own already
}

void remote_cell::forward_signal(core::envelope_ptr e) noexcept {
  if (link_credit_.let_in([&](link_port& l) { l.signal(*this, std::move(e)); })) return;
  if (!link_credit_.leave(*this, e, mail_slot::kind::signal)) lost_signal(e, net_errc::node_down);
}

bool remote_cell::leave_waiting(core::envelope_ptr e, base::instant until,
                                std::uint32_t& weight) noexcept {
  bool first = false;
  try {
    if (leave_encoded(e, until, first, weight)) return first;
    // Entries for a link that is only busy are taken soon, so that their size matters little.
    const std::size_t bytes = link_credit_.slot().is_long() ? encoded_size(*e) : 0;
    weight = link_credit_.weight_of(bytes);
    first = link_credit_.slot().add(
        {.to = this, .sender = answering_cell::whose_lane(*e), .weight = weight, .until = until}, e,
        mail_slot::kind::message, bytes);
    link_credit_.weigh(weight);
    return first;
  } catch (const std::bad_alloc&) { return lost(std::move(e), base::errc::overload), false; }
}

/// Returns the size of a message that only the link can encode, or 0 if it cannot be encoded.
std::size_t remote_cell::encoded_size(const core::envelope& e) const {
  const signature_codec* const s = [&] {
    const std::lock_guard lock(tables_mutex);
    return by_content(e.type);
  }();
  if (s == nullptr) return 0;
  no_porter porter(true);
  byte_writer out({.context = codec_context(static_cast<handle_porter&>(porter))});
  try {
    s->message.write(out, core::content_pointer(&e));
  } catch (...) { return 0; }
  return out.failure() ? 0 : out.size();
}

/// Encodes a message on its sender's thread, or a request that may be large. Returns false if only
/// the link can encode it, or can report the error.
bool remote_cell::leave_encoded(core::envelope_ptr& message, base::instant until, bool& first,
                                std::uint32_t& weight) {
  const core::envelope& e = *message;
  // order: acquire, pairs with seen_as
  const protocol_table* const table = first_table_.load(std::memory_order_acquire);
  const bool asks = e.is(core::envelope_flag::request);
  if (table == nullptr || hints_.needs_link(e.type)) return false;
  if (asks && !hints_.is_large(e.type)) return false;
  const signature_codec* const s = table->by_content(e.type);
  if (s == nullptr) return false;
  std::optional<packet> p = encoded_outside(s->message, e, link_credit_.how().headers, hints_);
  if (!p) return false;
  const std::size_t bytes = p->size();
  if (!take_bytes(bytes)) return lost(std::move(message), too_many_bytes()), true;
  try {
    first = leave_encoded(message, until, std::move(*p), s->message, weight);
  } catch (...) {
    give_bytes_back(bytes);
    throw;
  }
  return true;
}

/// Leaves a message with its encoded payload, which has taken its bytes.
bool remote_cell::leave_encoded(core::envelope_ptr& message, base::instant until, packet payload,
                                const content_codec& as, std::uint32_t& weight) {
  const core::envelope& e = *message;
  const answering_cell::encoding& how = link_credit_.how();
  if (e.is(core::envelope_flag::request)) {
    weight = link_credit_.weight_of(payload.size());
    const std::uint32_t counted = weight;  // the message may be gone before `add` returns
    const bool is_first = link_credit_.slot().add(
        {.to = this, .sender = answering_cell::whose_lane(e), .weight = counted, .until = until},
        message, std::move(payload));
    link_credit_.weigh(counted);
    return is_first;
  }
  const actor_id sender = how.sender(e.sender_id);
  outgoing m =
      e.is(core::envelope_flag::urgent)
          ? to_outgoing({.receiver = id_, .sender = sender, .type = as.type, .urgent = true},
                        std::move(payload))
          : message_to(id_, sender, as.type, std::move(payload));
  weight = link_credit_.weight_of(m.bytes.size());
  const bool first = link_credit_.slot().add(
      {.to = this, .type = e.type, .sender = e.sender_id, .lane = m.lane}, std::move(m.bytes));
  link_credit_.weigh(weight);
  return first;
}

void remote_cell::lose_entry(mail_slot::entry& e) noexcept {
  constexpr std::string_view why = "the link to its node is over, or no memory is left for it";
  using enum mail_slot::kind;
  if (e.as == answer || e.as == release) return;  // the peer knows no actor here any more
  auto& to = static_cast<remote_cell&>(*e.what.to);
  if (e.as == signal)
    return to.lost_signal(e.envelope, base::make_error(net_errc::node_down, to.name(), why));
  const base::error no = base::make_error(base::errc::not_handled, to.name(), why);
  if (e.envelope != nullptr) {
    to.give_bytes_back(e.whole.size());
    return to.lost(std::move(e.envelope), no, e.what.weight);
  }
  const std::span<const std::byte> bytes = e.whole.empty() ? e.bytes : e.whole.bytes();
  if (const base::result<frame> f = decode_frame(bytes)) to.give_bytes_back(f->payload.size());
  to.lost(e.what.type, e.what.sender, to.link_credit_.weight_of(e.size()), no);
}

void remote_cell::lost(const base::message_type* type, std::uint64_t sender, std::uint32_t weight,
                       const base::error& why) noexcept {
  link_credit_.give_back(weight);
  grant(1);
  env().dead_letter({.sender = sender,
                     .receiver = cell::id(),
                     .type = type->name,
                     .descriptor = type,
                     .reason = why});
}

base::error remote_cell::too_much_waits() const {
  return base::make_error(base::errc::overload, name(),
                          "too many messages to its node wait to be sent");
}

base::error remote_cell::too_many_bytes() const {
  return base::make_error(base::errc::overload, name(),
                          "the receiver does not keep up with so many bytes");
}

void remote_cell::lost_signal(const core::envelope_ptr& e, const base::exit_reason& why) noexcept {
  if (link_.is_over()) {
    end(why);
    return answer_as_ended(e);
  }
  if (e->type != &base::message_type_of<core::signals::watch>) return;
  const auto& w = *static_cast<const core::signals::watch*>(e->raw());
  if (w.monitor != 0)
    tell_down(w.watcher, address(), why, w.monitor);
  else
    tell_exit(w.watcher, address(), why);
}

void remote_cell::nobody_holds_it() noexcept {
  core::envelope_ptr nothing;
  if (!link_credit_.let_in([&](link_port& l) { l.released(*this); }))
    static_cast<void>(link_credit_.leave(*this, nothing, mail_slot::kind::release));
}

}  // namespace garrick::net::internal
