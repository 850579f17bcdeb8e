#include "garrick/net/testkit/question_checker.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net::testkit {
namespace {

// The head of a content: flow, number and kind, which decide all bytes behind it.
constexpr std::size_t head = 4 + 8 + 1;
enum class content : std::uint8_t { question = 1, answer };
// The bytes of an answer.
constexpr std::size_t answer_size = head + 20;
// The least of the numbers that no question ever has.
constexpr std::uint64_t unasked = 1u << 20;
constexpr actor_id somebody_else{77, 77};
// The actor behind a resolved name: one of the answering end, or, for each third question, one of
// the asking end.
constexpr actor_id whom_it_names{88, 88};
constexpr bool leads_home(std::uint64_t number) noexcept { return number % 3 == 0; }

std::byte filler(std::size_t flow, std::uint64_t number, content c, std::size_t at) noexcept {
  return static_cast<std::byte>(
      (flow * 89 + number * 11 + static_cast<std::size_t>(c) * 5 + at * 3) & 0xff);
}

packet written(std::size_t flow, std::uint64_t number, content c, std::size_t size,
               std::size_t room) {
  packet p = packet::with_room(room, size);
  std::byte* to = p.append(size);
  store_le(to, static_cast<std::uint32_t>(flow));
  store_le(to + 4, number);
  to[12] = static_cast<std::byte>(c);
  for (std::size_t i = head; i != size; ++i) to[i] = filler(flow, number, c, i);
  return p;
}

/// Returns true if these bytes are that content, whole.
bool is(std::span<const std::byte> bytes, std::size_t flow, std::uint64_t number, content c) {
  if (bytes.size() < head || load_le<std::uint32_t>(bytes.data()) != flow ||
      load_le<std::uint64_t>(bytes.data() + 4) != number || bytes[12] != static_cast<std::byte>(c))
    return false;
  for (std::size_t i = head; i != bytes.size(); ++i)
    if (bytes[i] != filler(flow, number, c, i)) return false;
  return true;
}

std::string words_of_refusal(std::size_t flow, std::uint64_t number) {
  return "question " + std::to_string(number) + " of flow " + std::to_string(flow);
}
base::error refusal(std::size_t flow, std::uint64_t number) {
  return base::make_error(net_errc::denied, "talking_end", words_of_refusal(flow, number));
}

frame_kind answer_to(frame_kind question) noexcept {
  switch (question) {
    case frame_kind::resolve: return frame_kind::resolved;
    case frame_kind::spawn: return frame_kind::spawned;
    default: return frame_kind::response;
  }
}

}  // namespace

std::vector<std::byte> right_answer(std::span<const std::byte> question) {
  if (question.size() < head) return {};
  const packet p =
      written(load_le<std::uint32_t>(question.data()), load_le<std::uint64_t>(question.data() + 4),
              content::answer, answer_size, 0);
  return {p.bytes().begin(), p.bytes().end()};
}

base::error right_refusal(std::span<const std::byte> question) {
  if (question.size() < head) return {};
  return refusal(load_le<std::uint32_t>(question.data()),
                 load_le<std::uint64_t>(question.data() + 4));
}

// ---- question_checker ---------------------------------------------------------------------------

void question_checker::found(std::string text) {
  if (violation_.empty()) violation_ = std::move(text);
}

std::string question_checker::name_of(const flow& f, std::uint64_t number) {
  return "question " + std::to_string(number) + " from " + f.asker;
}

void question_checker::finish() {
  for (const flow& f : flows_) {
    if (f.vanished) continue;
    for (std::size_t i = 0; i != f.questions.size(); ++i) {
      const question& q = f.questions[i];
      const std::string name = name_of(f, i + 1);
      const bool must_end = promise_.to_mailbox || !q.due.is_never() || f.over;
      if (q.end == ending::none && must_end) return found(name + " was never answered");
      if (q.end == ending::perhaps && !f.over)
        return found(name + " was given up, and the link lives");
    }
    if (promise_.to_mailbox && !f.over && f.no_frames != 0)
      return found(f.asker + " was not told that something was no frame");
  }
}

// ---- talking_end --------------------------------------------------------------------------------

talking_end::talking_end(question_checker& checker, std::string name,
                         std::function<base::instant()> now)
    : checker_(checker), own_(checker.flows_.size()), now_(std::move(now)) {
  checker_.flows_.emplace_back().asker = std::move(name);
}

talking_end::~talking_end() {
  flow& own = checker_.flows_[own_];
  if (!own.over) own.vanished = true;
  listener_ = nullptr;
}

bool talking_end::is_down() const { return checker_.flows_[own_].over; }

bool talking_end::can_ask() const {
  return connected_ && !is_down() && link_ != nullptr && link_->writable();
}

std::size_t talking_end::room() const { return frame_room + link_->header_size(); }

/// Sends a message. Returns true if the link has taken it.
bool talking_end::send(outgoing&& m) {
  const base::error refused = link_->send(std::move(m), now_());
  if (refused && refused != net_errc::overload)
    checker_.found("a link that was writable refuses: " + refused.to_string());
  return !refused;
}

void talking_end::ask(frame_kind kind, std::uint64_t pair, std::size_t size, base::duration limit) {
  flow& own = checker_.flows_[own_];
  const std::uint64_t number = own.questions.size() + 1;
  frame f{.kind = kind, .number = number};
  if (kind == frame_kind::request) f.receiver = {2 * pair + 1, 1};
  if (kind != frame_kind::resolve) f.sender = {2 * pair + 2, 2};
  if (!limit.is_infinite()) f.time_left = limit;
  const base::instant due = limit.is_infinite() ? base::instant::never() : now_() + limit;
  outgoing m =
      to_outgoing(f, written(own_, number, content::question, std::max(size, head), room()));
  // The question may be handled, and answered, before `send` returns.
  own.questions.push_back({kind, f.sender, f.receiver, due});
  ++checker_.seen_.asked;
  if (!send(std::move(m))) checker_.found("a link that was writable is full");
}

void talking_end::cancel_one() {
  flow& own = checker_.flows_[own_];
  for (std::uint64_t number = own.questions.size(); number != 0; --number) {
    question& q = own.questions[number - 1];
    if (q.end != ending::none || q.kind != frame_kind::request) continue;
    q.end = ending::cancelled;
    ++checker_.seen_.cancelled;
    const frame f{
        .kind = frame_kind::cancel, .receiver = q.asked, .sender = q.asker, .number = number};
    send(to_outgoing(f, packet::with_room(room(), 0)));
    return;
  }
}

void talking_end::send_no_frame() {
  packet p = packet::with_room(room(), 3);
  std::byte* to = p.append(3);
  to[0] = std::byte{0x7f};
  to[1] = to[2] = std::byte{0};
  if (send({std::move(p)})) ++checker_.flows_[own_].no_frames;
}

void talking_end::answer_one(reply how) {
  if (handled_.empty() || is_down() || !link_->writable()) return;
  const handled h = handled_.front();
  question& q = checker_.flows_[h.from].questions[h.number - 1];
  if (how == reply::for_another && q.kind == frame_kind::request)
    return send_answer(h, q, h.number, somebody_else);
  if (how == reply::unasked) return send_answer(h, q, unasked + h.number, q.asked);
  handled_.pop_front();
  if (how == reply::none && !q.due.is_never()) return;
  q.answered = true;
  if (how == reply::refusal) return send_refusal(h, q);
  send_answer(h, q, h.number, q.asked);
  if (how == reply::twice) send_answer(h, q, h.number, q.asked);
}

void talking_end::send_answer(const handled& h, const question& q, std::uint64_t number,
                              actor_id from) {
  frame f{.kind = answer_to(q.kind), .sender = from, .number = number};
  if (q.kind == frame_kind::request) f.receiver = q.asker;
  if (q.kind == frame_kind::resolve) (leads_home(number) ? f.receiver : f.sender) = whom_it_names;
  // An end that answers for another actor, or without a question, gives a wrong answer.
  const bool is_right = number == h.number && from == q.asked;
  send(to_outgoing(f, written(is_right ? h.from : ~std::size_t{0}, number, content::answer,
                              answer_size, room())));
}

void talking_end::send_refusal(const handled& h, const question& q) {
  const frame asked{.kind = q.kind, .receiver = q.asked, .sender = q.asker, .number = h.number};
  send(refusal_of(asked, refusal(h.from, h.number), link_->header_size()));
}

bool talking_end::on_message(const incoming& m) {
  if (is_down()) return checker_.found("a message came after the link went down"), true;
  GARRICK_ASSERT(m.decoded != nullptr, "the stack has actor_protocol on top");
  const frame& f = *m.decoded;
  switch (f.kind) {
    case frame_kind::request:
    case frame_kind::resolve:
    case frame_kind::spawn: on_question(m, f); break;
    case frame_kind::response:
    case frame_kind::resolved:
    case frame_kind::spawned:
    case frame_kind::error: on_answer(m, f); break;
    case frame_kind::decode_error: on_decode_error(f); break;
    case frame_kind::cancel: break;  // it may still be answered
    default: checker_.found("a frame of an unexpected kind came");
  }
  return true;
}

void talking_end::on_question(const incoming& m, const frame& f) {
  const std::size_t from =
      f.payload.size() < head ? ~std::size_t{0} : load_le<std::uint32_t>(f.payload.data());
  if (from >= checker_.flows_.size() || f.number == 0 ||
      f.number > checker_.flows_[from].questions.size() ||
      !is(f.payload, from, f.number, content::question))
    return checker_.found("a question came that was not asked");
  const flow& asker = checker_.flows_[from];
  question& q = checker_.flows_[from].questions[f.number - 1];
  const std::string name = question_checker::name_of(asker, f.number);
  if (q.kind != f.kind || f.receiver != q.asked || f.sender != q.asker)
    return checker_.found(name + " came to another actor");
  const promise& p = checker_.promise_;
  if (p.sessions && from_ != 0 && from_ != from + 1)
    return checker_.found(name + " came to a link that talks to another one");
  from_ = from + 1;
  if (std::exchange(q.handled, true) && p.once) checker_.found(name + " came twice");
  std::uint64_t& last = last_handled_[m.lane];
  if (p.ordered && f.number < last) checker_.found(name + " came after a later one");
  last = std::max(last, f.number);
  handled_.push_back({from, f.number});
}

void talking_end::on_answer(const incoming& m, const frame& f) {
  flow& own = checker_.flows_[own_];
  if (f.number == 0 || f.number > own.questions.size())
    return checker_.found("an answer came to " + own.asker + ", which has not asked");
  question& q = own.questions[f.number - 1];
  const std::string name = question_checker::name_of(own, f.number);
  if (q.end == ending::cancelled)
    return checker_.found(name + " was answered after it was taken back");
  if (q.end != ending::none) return checker_.found(name + " was answered twice");
  if (f.kind == frame_kind::error) return on_error(m, f, q);
  q.end = ending::answered;
  ++checker_.seen_.answered;
  if (f.kind == frame_kind::resolved &&
      (leads_home(f.number) ? f.receiver : f.sender) != whom_it_names)
    return checker_.found(name + " got the name of another actor");
  if (f.kind != answer_to(q.kind) || !is(f.payload, own_, f.number, content::answer))
    return checker_.found(name + " got the answer to something else");
  if (!q.answered) checker_.found(name + " got an answer that was not given");
}

void talking_end::on_error(const incoming& m, const frame& f, question& q) {
  const std::string name = question_checker::name_of(checker_.flows_[own_], f.number);
  const base::error why = error_of(f);
  if (why == base::errc::timeout) {
    q.end = ending::timeout;
    ++checker_.seen_.timeouts;
    if (now_() < q.due) checker_.found(name + " was over before its time");
  } else if (why == net_errc::perhaps_delivered) {
    q.end = ending::perhaps;
    ++checker_.seen_.perhaps;
  } else {
    q.end = ending::refused;
    ++checker_.seen_.refused;
    if (why != net_errc::denied ||
        why.detail().find(words_of_refusal(own_, f.number)) == std::string_view::npos)
      return checker_.found(name + " got the refusal of something else: " + why.to_string());
    if (!q.answered) checker_.found(name + " got a refusal that was not given");
    return;
  }
  if (!m.made_here) checker_.found(name + " was ended by the other end: " + why.to_string());
}

void talking_end::on_decode_error(const frame& f) {
  flow& own = checker_.flows_[own_];
  if (error_of(f) != net_errc::decode_failed || f.receiver || f.sender || f.type != 0)
    return checker_.found("a message that was no frame is reported as something else: " +
                          error_of(f).to_string());
  if (own.no_frames == 0)
    return checker_.found(own.asker + " was told of a frame that it has not sent");
  --own.no_frames;
  ++checker_.seen_.no_frames;
}

void talking_end::on_event(const link_event& e) {
  using kind = link_event::kind;
  flow& own = checker_.flows_[own_];
  if (own.over) checker_.found(own.asker + " heard something after `down`");
  if (e.what == kind::connected || e.what == kind::opened || e.what == kind::resumed)
    connected_ = true;
  if (e.what == kind::disconnected) connected_ = false;
  if (e.what == kind::down) {
    own.over = true;
    for (std::size_t i = 0; i != own.questions.size(); ++i)
      if (own.questions[i].end == ending::none)
        checker_.found(question_checker::name_of(own, i + 1) +
                       " has no answer, and the link is down");
  }
  if (listener_) listener_(e);
}

}  // namespace garrick::net::testkit
