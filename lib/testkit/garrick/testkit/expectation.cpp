// The check of an expectation at the end of its sentence, and its text.
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/expectation.hpp>
#include <garrick/testkit/failure.hpp>
#include <garrick/testkit/internal/deterministic_environment.hpp>

namespace garrick::testkit {

using internal::deterministic_scheduler;
using internal::sender_of;

namespace {

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
  if (from_) text += " from " + system_.past().name_of(*from_);
  return text;
}

std::string expectation_base::mismatch(const core::envelope* next) const {
  if (next == nullptr) {
    const core::cell* const c = core::handle_access::get(to_);
    if (c != nullptr && !c->has_ended() && c->is_awaiting())
      return "expected " + wanted() + ", but " + text_of(to_) +
             " awaits a response: all else is set aside until it comes";
    return "expected " + wanted() + ", but no message waits there";
  }
  const std::string found =
      text_of_message(next) + " from " + system_.past().name_of(sender_of(next));
  if (next->type != &type_) return "expected " + wanted() + ", but the next message is " + found;
  if (from_ && sender_of(next) != *from_)
    return "expected " + wanted() + ", but the next message is " + found;
  std::string content;
  if (check_ && !check_(core::content_pointer(next), content))
    return "expected " + wanted() + ": " + content + "\n  but the next message is " + found;
  return {};
}

bool expectation_base::act() {
  done_ = true;
  core::cell* const receiver = core::handle_access::get(to_);
  if (receiver == nullptr) detail::fail(system_, "expected " + wanted(), where_);
  deterministic_scheduler& scheduler = system_.scheduler();
  const core::envelope* const next = receiver->has_ended() ? nullptr : scheduler.next_of(*receiver);
  std::string text = mismatch(next);
  if (text.empty()) {
    const auto& runner = core::running_cell::of(*receiver);
    const std::uint32_t skipped = runner.skipped_count();
    const std::string was = text_of_message(next);
    if (!scheduler.turn_of(*receiver))
      text = "the message was not handled: " + was + "; " + text_of(to_) + " ended first (" +
             (receiver->has_ended() ? receiver->end_reason().to_string() : "it is suspended") + ")";
    else if (!receiver->has_ended() && runner.skipped_count() > skipped)
      text = "the message was not handled, but set aside: " + was + "; " + text_of(to_) +
             " has no case for it";
    else
      return true;
  }
  if (mode_ == expecting::may) return false;
  detail::fail(system_, text, where_);
}

injection_base::~injection_base() = default;

void injection_base::deliver(const core::handle& to, const std::source_location& where) {
  deterministic_scheduler& scheduler = system_.scheduler();
  core::cell& receiver = core::detail::target_of(to, "an injection");
  if (const core::envelope* const before = scheduler.next_of(receiver))
    detail::fail(system_,
                 "cannot inject into " + to.to_string() +
                     ": another message waits before it: " + text_of_message(before),
                 where);
  core::envelope* const mine = envelope_.release();
  const std::string was = text_of_message(mine);
  mine->sender_id = sender_;
  receiver.deliver(mine);
  if (scheduler.next_of(receiver) != mine || !scheduler.turn_of(receiver))
    detail::fail(system_, "the injected message was not handled: " + was + " by " + to.to_string(),
                 where);
}

}  // namespace detail

void absence::to(const core::handle& receiver) {
  core::cell& cell = core::detail::target_of(receiver, "expect_none()");
  if (cell.has_ended() || system_.scheduler().next_of(cell) == nullptr) return;
  for (const core::envelope* waiting : system_.scheduler().waiting_for(cell)) {
    if (type_ != nullptr && waiting->type != type_) continue;
    detail::fail(system_,
                 "expected no " +
                     (type_ != nullptr ? std::string(type_->name) : std::string("message")) +
                     " for " + receiver.to_string() + ", but there is " + text_of_message(waiting) +
                     " from " + system_.past().name_of(sender_of(waiting)),
                 where_);
  }
}

}  // namespace garrick::testkit
