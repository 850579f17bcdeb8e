// The last steps of a process. They may run in a signal's handler, or after a failure of the heap,
// so a text is put together in a buffer on the stack, and written with one call.
#include "garrick/base/platform/ending.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace garrick::base {

fatal_line::fatal_line() noexcept { std::memcpy(text_, prefix.data(), prefix.size()); }

void fatal_line::add(std::string_view part) noexcept {
  const std::size_t n = std::min(part.size(), prefix.size() + longest_fatal_reason - size_);
  std::memcpy(text_ + size_, part.data(), n);
  size_ += n;
}

std::string_view fatal_line::reason() const noexcept {
  return {text_ + prefix.size(), size_ - prefix.size()};
}

void fatal_line::write_out() noexcept {
  text_[size_] = '\n';
  std::string_view left(text_, size_ + 1);
  while (!left.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nothing can be done if it cannot be written
    left.remove_prefix(static_cast<std::size_t>(n));
  }
}

void end_process(fatal_cause cause, std::initializer_list<std::string_view> reason) noexcept {
  fatal_line line;
  for (const std::string_view part : reason) line.add(part);
  line.write_out();
  // order: acquire pairs with set_fatal_hook: the installer's preparations
  if (const end_listener tell = listens_to_ends.load(std::memory_order_acquire))
    tell(cause, line.reason());
  std::abort();
}

}  // namespace garrick::base
