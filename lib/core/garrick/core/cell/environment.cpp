// Defaults of a system, and how a lost message is shown.
#include <garrick/core/cell/envelope.hpp>
#include <garrick/core/cell/environment.hpp>

namespace garrick::core {

bool detect_request_cycles_by_default() noexcept {
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

std::string print_content(const undelivered& what) {
  std::string text;
  if (what.content != nullptr)
    what.descriptor->print(content_pointer(what.content), text);
  else
    text = "(gone with the coroutine that handled it)";
  return text;
}

}  // namespace garrick::core
