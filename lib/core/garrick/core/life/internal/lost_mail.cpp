// The fate of messages that no handler takes.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/internal/no_reentry.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/life/signals.hpp>

#include <new>
#include <utility>
#include <vector>

namespace garrick::core::lost_mail {

namespace {

/// Returns the error for the requester. A request that was handed on counts as seen by a handler.
base::error told_requester(const envelope* e, const base::error& why) noexcept {
  return e->is(envelope_flag::seen) ? told_by_handler(why) : why;
}

}  // namespace

void lose(cell& receiver, envelope_ptr e, const base::error& why) noexcept {
  report(receiver, e.get(), why);
  respond_error(e.get(), told_requester(e.get(), why));
}

void lose_kept(cell& self, envelope* e, const base::error& why) noexcept {
  report(self, e, why);
  respond_error(e, told_requester(e, why));
  self.finish(e);
}

void lose_parked(cell& receiver, const parked_message& p, const base::error& why) noexcept {
  lose(receiver, envelope_ptr(p.message), why);
  respond_error(pending_request{p.sender, p.id}, why);
}

bool lose_overdue(envelope* e) noexcept {
  if (!e->is(envelope_flag::request)) return false;
  const base::instant until = e->requester->wanted_until(e->id());
  if (until.is_never() || until > e->requester->env().clock->now()) return false;
  respond_timed_out(take_request(e));
  return true;
}

void lose_failed(cell& self, envelope* e, const base::error& why) noexcept {
  if (e != nullptr) {
    report(self, e, why);
    respond_error(e, why);
  }
  answer_unkept(self, why);
  if (e == nullptr) return;
  const no_reentry guard(why);
  self.finish(e);
}

bool keep_unkept(cell& self, pending_request r) noexcept {
  try {
    std::vector<pending_request>& unkept = self.ext().unkept;
    if (unkept.empty()) self.signal(detail::make_envelope<signals::promises_dropped>());
    unkept.push_back(r);
    return true;
  } catch (const std::bad_alloc&) { return false; }
}

void answer_unkept(cell& self, const base::error& why) noexcept {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->unkept.empty()) return;
  for (const pending_request r : std::exchange(x->unkept, {})) respond_error(r, why);
}

void answer_unanswered(const cell& self, envelope* e) noexcept {
  if (!e->is(envelope_flag::request)) return;
  try {
    respond_error(e, base::make_error(base::errc::broken_promise, self.name(),
                                      "the handler of " + std::string(e->type->name) +
                                          " answered with an empty promise"));
  } catch (const std::bad_alloc&) { respond_error(e, base::errc::broken_promise); }
}

void report(cell& receiver, const envelope* e, const base::error& why) noexcept {
  if (e->is(envelope_flag::response)) return;  // its requester no longer waits
  if (e->type->unreported) return;             // no actor misses it
  undelivered lost;
  lost.sender = e->is(envelope_flag::request) ? (e->requester != nullptr ? e->requester->id() : 0)
                                              : e->sender_id;
  lost.receiver = receiver.id();
  lost.type = e->type->name;
  lost.descriptor = e->type;
  lost.content = e;
  lost.reason = why;
  receiver.env().dead_letter(lost);
}

void report_unexpected(cell& self, envelope* e) noexcept {
  report(self, e, base::make_error(base::errc::unexpected_message, self.name(), e->type->name));
}

base::error gone(const cell& receiver) noexcept {
  return told_of_end(base::errc::not_handled, receiver, receiver.end_reason());
}

base::error told_of_end(base::errc code, const cell& who,
                        const base::exit_reason& reason) noexcept {
  const std::string_view text = reason.detail();
  const bool is_an_error = reason.code() == base::exit_code::failure;
  if (text.empty() && !is_an_error) return code;  // most ends
  const std::string_view where = text.starts_with(who.name()) ? std::string_view() : who.name();
  if (!is_an_error) return base::make_error(code, where, text);
  try {
    return base::make_error(code, where, reason.as_error().to_string());
  } catch (const std::bad_alloc&) { return code; }
}

base::error told_of_promises(const cell& who, const base::exit_reason& reason) noexcept {
  return told_of_end(reason.is_failure() ? base::errc::receiver_failed : base::errc::broken_promise,
                     who, reason);
}

std::string text_of(const std::exception_ptr& what) noexcept {
  try {
    try {
      std::rethrow_exception(what);
    } catch (const std::exception& x) { return x.what(); } catch (...) {
      return "an exception that is not a std::exception";
    }
  } catch (const std::exception&) {
    return "no memory";  // for the text; short enough to need none itself
  }
}

}  // namespace garrick::core::lost_mail
