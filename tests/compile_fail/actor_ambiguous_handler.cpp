// expect: handler_of<
// expect: has no fitting (or an ambiguous) handler on(...) for this signature of its protocol
// expect: payload
// max-lines: 15
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
