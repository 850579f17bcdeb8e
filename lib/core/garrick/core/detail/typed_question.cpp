// The part of the question that does not depend on the protocol.
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/detail/typed_question.hpp>

#include <string>
#include <utility>

namespace garrick::core::detail {

base::error not_understood(cell& self, const signature_types* wanted, std::size_t count) {
  for (const signature_types* s = wanted; s != wanted + count; ++s)
    if (!self.understands(s->message, s->answer))
      return base::make_error(base::errc::unexpected_message, self.name(),
                              "does not answer " + std::string(s->message->name) + " with " +
                                  std::string(s->answer->name));
  return {};
}

void ask_on_its_turn(cell& to, std::unique_ptr<errand> question) {
  to.signal(make_envelope<signals::run_errand>(std::move(question)));
}

}  // namespace garrick::core::detail
