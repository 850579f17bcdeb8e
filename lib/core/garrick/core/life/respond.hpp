// Answering requests: the one place where a response envelope is made and the requester's reference
// is given back.
//
// Private: installed because templates need it.
//
// Requires: the envelope or promise carries an unanswered request. Guarantees: one response for
// each request. Thread safety: any thread; an envelope's request belongs to the owner of the
// envelope.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/cell.hpp>

#include <string_view>
#include <utility>

namespace garrick::core {

/// Takes the request out of an envelope. Returns an empty one if the envelope carries none.
[[nodiscard]] inline pending_request take_request(envelope* e) noexcept {
  if (!e->is(envelope_flag::request)) return {};
  e->clear(envelope_flag::request);
  cell* const c = std::exchange(e->requester, nullptr);
  return {c, e->id()};
}

/// Like `take_request`, for an answer that comes later: the envelope keeps the requester's id as
/// its sender.
[[nodiscard]] inline pending_request take_request_for_later(envelope* e) noexcept {
  const pending_request r = take_request(e);
  if (r.requester != nullptr) e->sender_id = r.requester->id();
  return r;
}

namespace detail {

/// Tells the wait graph that the request was answered. Requires a wait graph.
void note_answered(cell& requester, std::uint64_t id) noexcept;

/// Sends a filled response to its requester and gives the reference back.
inline void send_response(pending_request r, envelope* e) noexcept {
  if (r.requester->env().waits != nullptr) [[unlikely]]
    note_answered(*r.requester, r.id);
  e->word |= r.id;
  e->set(envelope_flag::response);
  if (running_id() != 0) e->sender_id = running_id();
  r.requester->deliver_answer(e);
  r.requester->drop_strong();
}

/// Returns `receiver_failed`, with the text of the exception that is being handled.
[[nodiscard, gnu::cold]] base::error exception_as_error(std::string_view where) noexcept;

/// Answers that the running actor failed with the exception that is being handled.
[[gnu::cold]] void respond_exception(pending_request r) noexcept;

}  // namespace detail

/// Answers with a value made of the arguments. Does nothing if no actor waits. An exception from
/// making the answer leaves this function, after the requester has got `receiver_failed`.
template <class Content, class... Args>
void respond_value(pending_request r, Args&&... args) {
  if (r.requester == nullptr) return;
  envelope* answer = nullptr;
  try {
    answer = detail::make_envelope<Content>(std::forward<Args>(args)...);
  } catch (...) {
    detail::respond_exception(r);
    throw;
  }
  detail::send_response(r, answer);
}

/// Answers without a value, and cannot fail. Does nothing if no actor waits. Without memory a
/// reserved block carries the answer, as in `respond_error`.
void respond_done(pending_request r) noexcept;

/// Answers with an error. Does nothing if no actor waits. Without memory a reserved block carries
/// the answer; if no reserved block is left, the process ends with a message.
void respond_error(pending_request r, base::error why) noexcept;
/// The same for the request in an envelope, if it carries one.
inline void respond_error(envelope* e, base::error why) noexcept {
  respond_error(take_request(e), std::move(why));
}
/// Answers `timeout`, as if the requester's own clock had sent it. Does nothing if no actor waits.
/// Without memory a reserved block carries the answer, as in `respond_error`.
void respond_timed_out(pending_request r) noexcept;

/// Returns the error for the requester of a request that a handler has seen. `not_handled` from
/// another actor, passed on, would be wrong, and becomes `broken_promise` with the same text.
[[nodiscard]] base::error told_by_handler(base::error why) noexcept;

}  // namespace garrick::core
