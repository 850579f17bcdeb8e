// expect: cannot_be_sent<
// expect: "message.1"
// expect: const char
#include <garrick/garrick.hpp>

#include <string>

void test(const garrick::any_ref& to) {
#ifdef GARRICK_CONTROL
  send(to, 1, std::string("two"));
#else
  send(to, 1, "two");
#endif
}
