// expect: skips(const M&) must be public
#include <garrick/garrick.hpp>

class choosy : public garrick::actor<garrick::protocol<void(int)>> {
#ifdef GARRICK_CONTROL
 public:
#endif
  bool skips(int) { return false; }

 public:
  void on(int) {}
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<choosy>()); }
