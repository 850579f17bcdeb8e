// The text of a lost message.
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/mailbox/envelope.hpp>

namespace garrick::core {

std::string print_content(const undelivered& what) {
  // a limit, since the thread that lost the message prints it, perhaps a worker
  constexpr std::size_t most_bytes = 4096;
  std::string text;
  if (what.content != nullptr)
    what.descriptor->print_within(most_bytes, content_pointer(what.content), text);
  else
    text = "(gone: a coroutine has handled it, or it was sent to another node)";
  return text;
}

}  // namespace garrick::core
