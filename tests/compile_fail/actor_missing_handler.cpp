// expect: no_handler<
// expect: has no public handler on(...) that fits, or several that fit alike
// expect: forgotten
#include <garrick/garrick.hpp>

struct known {};
struct forgotten {};

class incomplete : public garrick::actor<garrick::protocol<void(known), int(forgotten)>> {
 public:
  void on(known) {}
#ifdef GARRICK_CONTROL
  int on(forgotten) { return 1; }
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<incomplete>()); }
