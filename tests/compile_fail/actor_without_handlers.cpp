// expect: no_handler<
// expect: has no public handler on(...) that fits, or several that fit alike
// expect: known
#include <garrick/garrick.hpp>

struct known {};

class empty : public garrick::actor<garrick::protocol<void(known)>> {
#ifdef GARRICK_CONTROL
 public:
  void on(known) {}
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<empty>()); }
