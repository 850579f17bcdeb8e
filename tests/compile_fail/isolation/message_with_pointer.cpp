// expect: cannot_be_sent<
// expect: "message.1.0"
// expect: const char
#include <garrick/garrick.hpp>

struct inner {
#ifdef GARRICK_CONTROL
  long text;
#else
  const char* text;
#endif
};
struct outer {
  int number;
  inner part;
};

void test(const garrick::any_ref& to) { send(to, outer{1, {}}); }
