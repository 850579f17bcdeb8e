// Asks the actor behind a wildcard handle whether it understands a protocol.
//
// An actor that has no behavior yet cannot answer: its start awaits, or it waits for its restart.
// Then the question goes behind its mail, and is asked again when that mail has been handled. The
// same holds for an actor that is about to end: a supervised one may be restarted, and any other
// turns the question away with its mail. For an actor of another process its proxy answers, by the
// protocols with which it was seen here.
//
// Private: installed because templates need it.
//
// Thread safety: the question travels in the system lane and runs on the turn of the actor that is
// asked.
#pragma once

#include <garrick/core/life/signals.hpp>
#include <garrick/core/promise.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/core/ref.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace garrick::core::detail {

/// The types that one signature names.
struct signature_types {
  const base::message_type* message;
  const base::message_type* answer;
};

/// Returns true if the actor cannot answer yet, or is about to end.
[[nodiscard]] bool cannot_tell_yet(cell& self, const signature_types& any_of_them) noexcept;

/// Returns no error if the actor understands all of these signatures now; otherwise an error that
/// names the first that it does not understand.
[[nodiscard]] base::error not_understood(cell& self, const signature_types* wanted,
                                         std::size_t count);

/// Puts the question into the system lane of `to`.
void ask_on_its_turn(cell& to, std::unique_ptr<errand> question);

/// The question, which owes the answer.
template <class P>
class typed_question;
template <class... Sigs>
class typed_question<protocol<Sigs...>> final : public errand {
 public:
  explicit typed_question(pending_request r) noexcept : answer_(r) {}
  void run(cell& self) override {
    if (cannot_tell_yet(self, wanted[0])) {
      auto again = std::make_unique<typed_question>(pending_request{});
      again->answer_ = std::move(answer_);
      return put_off_errand(self, std::move(again));
    }
    answer(self);
  }
  void run_for_proxy(cell& proxy) override { answer(proxy); }
  void turned_away() noexcept override {
    respond_error(promise_access::take(answer_), base::errc::not_handled);
  }

 private:
  static constexpr signature_types wanted[] = {
      {&base::message_type_of<typename signature<Sigs>::content>,
       &base::message_type_of<typename signature<Sigs>::answer::content>}...};

  void answer(cell& self) {
    if (base::error why = not_understood(self, wanted, sizeof...(Sigs)))
      return answer_.fail(std::move(why));
    self.add_strong_from_self();
    answer_.deliver(handle_access::adopt<protocol<Sigs...>>(&self));
  }
  response_promise<ref<protocol<Sigs...>>> answer_;
};

}  // namespace garrick::core::detail
