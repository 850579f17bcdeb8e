// expect: message.2.1
// expect: string_view
// expect: has_private_or_captured_state
// A view in the third argument of a message is found and named.
#include <garrick/base/types/sendable.hpp>

#include <string>
#include <string_view>

struct line {
  int number;
#if defined(GARRICK_CONTROL)
  std::string text;
#else
  std::string_view text;
#endif
};

void use() { garrick::base::check_sendable<line, 2>(); }
