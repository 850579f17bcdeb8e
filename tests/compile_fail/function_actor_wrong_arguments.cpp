// each: missing many supervised child
// expect: garrick: a function actor takes its self, such as `dynamic_actor& self`, if it
#include <garrick/garrick.hpp>

#ifdef GARRICK_WITHOUT_missing
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](int) {}));
}
#elif defined(GARRICK_WITHOUT_many)
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](garrick::dynamic_actor& self) { self.quit(); }, 7));
}
#elif defined(GARRICK_WITHOUT_supervised)
void test(const garrick::ref<garrick::core::supervisor_protocol>& top) {
  static_cast<void>(garrick::supervise(top, [](garrick::dynamic_actor&, int) {}));
}
#elif defined(GARRICK_WITHOUT_child)
void test() {
  static_cast<void>(garrick::child(garrick::child_options{}, [](garrick::dynamic_actor&) {}, 1));
}
#else
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](int) {}, 7));
}
#endif
