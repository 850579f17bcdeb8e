// The part of a typed question that does not depend on the protocol.
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/detail/typed_question.hpp>
#include <garrick/core/protocol/pack.hpp>

#include <string>
#include <utility>

namespace garrick::core::detail {

bool cannot_tell_yet(cell& self, const signature_types& any_of_them) noexcept {
  if (self.phase() == life::ending) return true;
  return (self.phase() == life::suspended || self.reader().is_holding()) &&
         self.understands(any_of_them.message, any_of_them.answer) == understanding::not_yet;
}

base::error not_understood(cell& self, const signature_types* wanted, std::size_t count) {
  for (const signature_types* s = wanted; s != wanted + count; ++s) {
    if (self.understands(s->message, s->answer) == understanding::yes) continue;
    const bool nothing = s->answer == &base::message_type_of<unit>;
    const std::string_view answer = nothing ? "void" : s->answer->name;
    return base::make_error(
        base::errc::unexpected_message, self.name(),
        "does not answer " + std::string(s->message->name) + " with " + std::string(answer));
  }
  return {};
}

void ask_on_its_turn(cell& to, std::unique_ptr<errand> question) {
  to.signal(make_envelope<signals::run_errand>(std::move(question)));
}

}  // namespace garrick::core::detail
