// expect: handler_of<
// expect: has no fitting (or an ambiguous) handler on(...) for this signature of its protocol
// expect: (int)
// max-lines: 15
#include <garrick/garrick.hpp>

class wrong : public garrick::actor<garrick::protocol<void(int), void(double)>> {
 public:
  void on(double) {}  // would take an int silently
#ifdef GARRICK_CONTROL
  void on(int) {}
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<wrong>()); }
