// each: spawn try_spawn own supervised child pool unfinished
// expect: garrick: this is no actor: its class must be defined, and derive publicly from
#include <garrick/garrick.hpp>

struct worker : garrick::actor<garrick::protocol<void(int)>> {
  void on(int) {}
};
struct record {
  int key = 0;
};
class unfinished;

#ifdef GARRICK_WITHOUT_spawn
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<record>()); }
#elif defined(GARRICK_WITHOUT_try_spawn)
void test(garrick::actor_system& system) { static_cast<void>(system.try_spawn<record>()); }
#elif defined(GARRICK_WITHOUT_own)
void test(garrick::dynamic_actor& self) { static_cast<void>(self.spawn<record>(7)); }
#elif defined(GARRICK_WITHOUT_supervised)
void test(const garrick::ref<garrick::core::supervisor_protocol>& top) {
  static_cast<void>(garrick::supervise<record>(top));
}
#elif defined(GARRICK_WITHOUT_child)
void test() { static_cast<void>(garrick::child<record>()); }
#elif defined(GARRICK_WITHOUT_pool)
void test(garrick::actor_system& system) {
  static_cast<void>(garrick::spawn_pool<record>(system, 4));
}
#elif defined(GARRICK_WITHOUT_unfinished)
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<unfinished>()); }
#else
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<worker>()); }
#endif
