// each: class own base abstract supervised child
// expect: garrick: this actor cannot be made of these arguments: its class needs a public
#include <garrick/garrick.hpp>

struct worker : garrick::actor<garrick::protocol<void(int)>> {
  explicit worker(int first) : last(first) {}
  void on(int x) { last = x; }
  int last;
};
struct unfinished : garrick::actor<garrick::protocol<void(int)>> {
  void on(int) {}
  virtual void rest() = 0;

 protected:
  ~unfinished() = default;
};

#ifdef GARRICK_WITHOUT_class
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<worker>(1, 2, 3)); }
#elif defined(GARRICK_WITHOUT_own)
void test(garrick::dynamic_actor& self) { static_cast<void>(self.spawn<worker>("one")); }
#elif defined(GARRICK_WITHOUT_base)
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn<garrick::dynamic_actor>());
}
#elif defined(GARRICK_WITHOUT_abstract)
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<unfinished>()); }
#elif defined(GARRICK_WITHOUT_supervised)
void test(const garrick::ref<garrick::core::supervisor_protocol>& top) {
  static_cast<void>(garrick::supervise<worker>(top));
}
#elif defined(GARRICK_WITHOUT_child)
void test() { static_cast<void>(garrick::child<worker>(1, 2)); }
#else
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<worker>(1)); }
#endif
