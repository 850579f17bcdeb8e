// expect: cannot_be_sent<
// expect: message.1
// expect: is_only_declared_here
// One of several parts has no definition.
#include <garrick/garrick.hpp>

struct later;
#ifdef GARRICK_CONTROL
struct later {
  int number;
};
#endif

void test(const garrick::any_ref& to, const later& message) { send(to, 1, message); }
