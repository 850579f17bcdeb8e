// What becomes of messages that nobody handles.
#include <garrick/core/cell/internal/lost_mail.hpp>
#include <garrick/core/cell/respond.hpp>

#include <utility>

namespace garrick::core::lost_mail {

void lose(cell& receiver, envelope_ptr e, base::error why) noexcept {
  report(receiver, e.get(), why);
  respond_error(e.get(), std::move(why));
}

void lose_kept(cell& self, envelope* e, const base::error& why) noexcept {
  report(self, e, why);
  respond_error(e, why);
  self.finish(e);
}

void report(cell& receiver, const envelope* e, const base::error& why) noexcept {
  if (e->is(envelope_flag::response)) return;  // its requester went away by its own will
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

base::error gone(const cell& receiver) {
  return told_of_end(base::errc::receiver_gone, receiver, receiver.end_reason());
}

// Most ends have no text, and cost no allocation.
base::error told_of_end(base::errc code, const cell& who, const base::exit_reason& reason) {
  const bool named = reason.detail().starts_with(who.name());  // not twice
  const std::string_view where = named ? std::string_view() : who.name();
  if (reason.code() == base::exit_code::failure)
    return base::make_error(code, where, reason.as_error().to_string());
  return reason.detail().empty() ? base::error(code)
                                 : base::make_error(code, where, reason.detail());
}

base::error told_of_end(const cell& who, const base::exit_reason& reason) {
  return told_of_end(reason.is_failure() ? base::errc::receiver_failed : base::errc::receiver_gone,
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
