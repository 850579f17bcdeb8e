// expect: on_start() must be public
#include <garrick/garrick.hpp>

class shy : public garrick::actor<garrick::protocol<void(int)>> {
#ifdef GARRICK_CONTROL
 public:
#endif
  void on_start() {}

 public:
  void on(int) {}
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<shy>()); }
