// Keeping the newest messages: who drops the oldest, and which token a message joins.
#include <garrick/core/cell/internal/latest_mail.hpp>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

namespace garrick::core {

namespace {

/// The content of an envelope in the mailbox that stands for the messages here.
struct mail_token {
  std::int64_t end;  ///< number of the first message that is not its own
};
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

mail_token& token_in(envelope* e) noexcept { return *static_cast<mail_token*>(e->raw()); }
const mail_token& token_in(const envelope* e) noexcept {
  return *static_cast<const mail_token*>(e->raw());
}

envelope* new_token(std::int64_t end) noexcept {
  try {
    return detail::make_envelope<mail_token>(end);
  } catch (const std::bad_alloc&) { return nullptr; }
}

}  // namespace

latest_mail::~latest_mail() {
  if (retry_token_ != nullptr) detail::free_envelope_block(retry_token_);
}

latest_mail::addition latest_mail::add(mailbox_gate<envelope>& gate, envelope* e) noexcept {
  const bool urgent = envelope::is_urgent(e);
  lane& to = lane_of(e);
  envelope_ptr token;  // before the lock, under which nobody allocates or frees
  std::unique_lock lock(lock_);
  std::uint32_t pushes = gate.pushes();
  // Urgent messages pass responses anyway.
  const auto may_join = [&] { return to.open != nullptr && (urgent || pushes == pushes_); };
  if (!may_join()) {
    lock.unlock();
    token.reset(new_token(no_end));
    lock.lock();
    pushes = gate.pushes();  // others may have come meanwhile
  }
  if ((gate.peek() & mailbox_word::closed) != 0) return {outcome::closed};
  outcome what = outcome::kept;
  if (!may_join()) {
    if (token == nullptr) return {outcome::no_memory};
    if (urgent) token->set(envelope_flag::urgent);
    // Under the lock, so that the runner finds the message with its token.
    const push_outcome pushed = gate.push(token.get());
    if (pushed == push_outcome::closed) return {outcome::closed};
    if (pushed == push_outcome::woke) what = outcome::woke;
    if (to.open != nullptr) token_in(to.open).end = to.behind;
    to.open = token.release();
    // If a response came in between, or since the last token, nothing can join from now on.
    if (!urgent || pushes == pushes_) pushes_ = pushes + 1;
  }
  to.messages.push_back(e);
  ++to.behind;
  ++length_;
  return {what, drop_over_bound()};
}

std::uint32_t latest_mail::length() const noexcept {
  const std::lock_guard guard(lock_);
  return length_;
}

bool latest_mail::is_token(const envelope* e) noexcept {
  return e->type == &base::message_type_of<mail_token>;
}

envelope* latest_mail::take(const envelope* token) noexcept {
  const std::lock_guard guard(lock_);
  lane& from = lane_of(token);
  if (from.messages.front != nullptr && from.first < token_in(token).end) return take_oldest(from);
  if (from.open == token) from.open = nullptr;
  return nullptr;
}

void latest_mail::close(envelope* token) noexcept {
  const std::lock_guard guard(lock_);
  lane& from = lane_of(token);
  if (from.open != token) return;
  token_in(token).end = from.behind;
  from.open = nullptr;
}

const envelope* latest_mail::peek(const envelope* token) const noexcept {
  const std::lock_guard guard(lock_);
  const lane& from = lane_of(token);
  return from.first < token_in(token).end ? from.messages.front : nullptr;
}

envelope* latest_mail::put_back(envelope* e) noexcept {
  const std::lock_guard guard(lock_);
  lane& to = lane_of(e);
  to.messages.push_front(e);
  --to.first;
  ++length_;
  return drop_over_bound();
}

envelope* latest_mail::set_aside(envelope* e) noexcept {
  if (retry_token_ == nullptr) {
    retry_token_ = new_token(no_end);
    if (retry_token_ == nullptr) return e;
  }
  const std::lock_guard guard(lock_);
  e->clear(envelope_flag::urgent);
  aside_.push_back(e);
  ++aside_count_;
  ++length_;
  return drop_over_bound();
}

std::uint32_t latest_mail::aside() const noexcept {
  const std::lock_guard guard(lock_);
  return aside_count_;
}

envelope* latest_mail::take_aside() noexcept {
  const std::lock_guard guard(lock_);
  envelope* const oldest = aside_.pop_front();
  if (oldest == nullptr) return nullptr;
  --aside_count_;
  --length_;
  return oldest;
}

void latest_mail::retry(mailbox_reader<envelope>& reader) noexcept {
  const std::lock_guard guard(lock_);
  if (aside_.front == nullptr) return;
  envelope* const token = std::exchange(retry_token_, nullptr);
  token_in(token).end = normal_.first;
  aside_.back->next = normal_.messages.front;
  if (normal_.messages.front == nullptr) normal_.messages.back = aside_.back;
  normal_.messages.front = aside_.front;
  normal_.first -= aside_count_;
  reader.prepend(token, token);
  aside_ = {};
  aside_count_ = 0;
}

envelope* latest_mail::take_oldest(lane& from) noexcept {
  ++from.first;
  --length_;
  return from.messages.pop_front();
}

// The oldest message set aside, or else of normal priority, or else an urgent one.
envelope* latest_mail::drop_over_bound() noexcept {
  if (length_ <= bound_) return nullptr;
  if (envelope* const oldest = aside_.pop_front()) {
    --aside_count_;
    --length_;
    return oldest;
  }
  return take_oldest(normal_.messages.front != nullptr ? normal_ : urgent_);
}

}  // namespace garrick::core
