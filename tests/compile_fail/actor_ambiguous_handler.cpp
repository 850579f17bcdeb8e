// expect: no_handler<
// expect: has no public handler on(...) that fits, or several that fit alike
// expect: payload
#include <garrick/garrick.hpp>

#include <string>

struct payload {
  std::string text;
};

class ambiguous : public garrick::actor<garrick::protocol<void(payload)>> {
 public:
  void on(payload) {}
#ifndef GARRICK_CONTROL
  void on(const payload&) {}
  void on(payload&&) {}
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<ambiguous>()); }
