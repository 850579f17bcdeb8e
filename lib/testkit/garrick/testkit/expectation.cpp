#include <garrick/core/cell/extension.hpp>
#include <garrick/testkit/internal/deterministic_core.hpp>
#include <garrick/testkit/test_system.hpp>

namespace garrick::testkit {

namespace {

std::uint64_t sender_of(const core::envelope* e) noexcept {
  if (e->is(core::envelope_flag::request)) return e->requester != nullptr ? e->requester->id() : 0;
  return e->sender_id;
}

std::string text_of_message(const core::envelope* e) {
  std::string out;
  e->type->print(core::content_pointer(e), out);
  return out;
}

std::string text_of(const core::address& a) {
  return a ? a.to_string() : "nobody (the expectation names no receiver: add .to(handle))";
}

}  // namespace

namespace detail {

std::string expectation_base::wanted() const {
  std::string text(type_.name);
  text += " for " + text_of(to_);
  if (from_) text += " from " + kit_.core_->name_of(*from_);
  return text;
}

std::string expectation_base::mismatch(const core::envelope* e) const {
  if (e == nullptr) {
    const core::cell* const c = core::handle_access::get(to_);
    if (c != nullptr && !c->has_ended() && core::cell_access::awaits(*c))
      return "expected " + wanted() + ", but " + text_of(to_) +
             " awaits a response: all else is set aside until it comes";
    return "expected " + wanted() + ", but no message waits there";
  }
  const std::string found = text_of_message(e) + " from " + kit_.core_->name_of(sender_of(e));
  if (e->type != &type_) return "expected " + wanted() + ", but the next message is " + found;
  if (from_ && sender_of(e) != *from_)
    return "expected " + wanted() + ", but the next message is " + found;
  std::string content;
  if (check_ && !check_(core::content_pointer(e), content))
    return "expected " + wanted() + ": " + content + "\n  but the next message is " + found;
  return {};
}

bool expectation_base::act() {
  done_ = true;
  core::cell* const c = core::handle_access::get(to_);
  if (c == nullptr) kit_.fail("expected " + wanted(), where_);
  internal::deterministic_core& core = *kit_.core_;
  const core::envelope* const e = c->has_ended() ? nullptr : core.next_of(*c);
  std::string text = mismatch(e);
  if (text.empty()) {
    const std::uint32_t skipped = c->ext_if() != nullptr ? c->ext_if()->skipped_count : 0;
    const std::string was = text_of_message(e);
    if (!core.turn_of(*c))
      text = "the message was not handled: " + was + "; " + text_of(to_) + " ended first (" +
             (c->has_ended() ? c->end_reason().to_string() : "it is suspended") + ")";
    else if (!c->has_ended() && c->ext_if() != nullptr && c->ext_if()->skipped_count > skipped)
      text = "the message was not handled, but set aside: " + was + "; " + text_of(to_) +
             " has no case for it";
    else
      return true;
  }
  if (mode_ == expecting::may) return false;
  kit_.fail(text, where_);
}

injection_base::~injection_base() {
  if (envelope_ == nullptr) return;
  core::detail::destroy_payload(envelope_);
  core::detail::free_envelope_block(envelope_);
}

void injection_base::deliver(const core::handle& to, const std::source_location& where) {
  internal::deterministic_core& core = *kit_.core_;
  core::cell& c = core::detail::target_of(to);
  if (const core::envelope* const e = core.next_of(c))
    kit_.fail("cannot inject into " + to.to_string() +
                  ": another message waits before it: " + text_of_message(e),
              where);
  core::envelope* const mine = std::exchange(envelope_, nullptr);
  const std::string was = text_of_message(mine);
  mine->sender_id = sender_;
  c.deliver_now(mine);
  if (core.next_of(c) != mine || !core.turn_of(c))
    kit_.fail("the injected message was not handled: " + was + " by " + to.to_string(), where);
}

}  // namespace detail

void absence::to(const core::handle& receiver) {
  core::cell& c = core::detail::target_of(receiver);
  if (c.has_ended() || kit_.core_->next_of(c) == nullptr) return;
  for (const core::envelope* e : kit_.core_->waiting_for(c)) {
    if (type_ != nullptr && e->type != type_) continue;
    kit_.fail("expected no " +
                  (type_ != nullptr ? std::string(type_->name) : std::string("message")) + " for " +
                  receiver.to_string() + ", but there is " + text_of_message(e) + " from " +
                  kit_.core_->name_of(sender_of(e)),
              where_);
  }
}

}  // namespace garrick::testkit
