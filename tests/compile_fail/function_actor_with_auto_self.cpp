// expect: a function actor says which self it takes
#include <garrick/garrick.hpp>

#ifdef GARRICK_CONTROL
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](garrick::dynamic_actor& self) { self.quit(); }));
}
#else
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](auto& self) { self.quit(); }));
}
#endif
