// expect: cannot_be_sent<
// expect: later
// expect: is_only_declared_here
// A message without a definition, alone or as one part of several.
#include <garrick/garrick.hpp>

struct later;
#ifdef GARRICK_CONTROL
struct later {
  int number;
};
#endif

void test(const garrick::ref<garrick::protocol<void(later)>>& to, const later& message) {
  send(to, message);
}
