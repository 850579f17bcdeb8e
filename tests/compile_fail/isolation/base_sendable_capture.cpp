// expect: message
// expect: has_private_or_captured_state
// A closure with a capture cannot be looked into.
#include <garrick/base/types/sendable.hpp>

void use() {
  int x = 0;
#if defined(GARRICK_CONTROL)
  const auto closure = [](int y) { return y; };
  closure(x);
#else
  const auto closure = [&x](int y) { return x += y; };
  closure(x);
#endif
  garrick::base::check_sendable<decltype(closure)>();
}
