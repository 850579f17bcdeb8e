// expect: no_handler<
// expect: has no public handler on(...) that fits, or several that fit alike
// expect: (int)
#include <garrick/garrick.hpp>

class wrong : public garrick::actor<garrick::protocol<void(int), void(double)>> {
 public:
  void on(double) {}  // would take an int silently
#ifdef GARRICK_CONTROL
  void on(int) {}
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<wrong>()); }
