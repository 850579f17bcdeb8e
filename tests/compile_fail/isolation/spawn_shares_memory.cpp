// each: pointer body supervised child_body pool
// expect: cannot_be_given<
// expect: "argument|"function
// expect: garrick: an actor owns its arguments
// No part of an actor may refer to data that its spawner still holds, unless it is lent.
#include <garrick/garrick.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

class worker : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  template <class... Args>
  explicit worker(Args&&...) {}
  void on(int) {}
};
struct options {
  int limit = 0;
  std::vector<std::string_view> names;
};

void test(garrick::actor_system& system, garrick::dynamic_actor& self, int& n, int* p, char* text) {
  const auto body = [&n](garrick::dynamic_actor&) { ++n; };
#ifdef GARRICK_WITHOUT_pointer
  static_cast<void>(system.spawn<worker>(1, p));
#elif defined(GARRICK_WITHOUT_body)
  static_cast<void>(system.spawn([&](garrick::dynamic_actor&) { ++n; }));
#elif defined(GARRICK_WITHOUT_supervised)
  static_cast<void>(self.supervise<worker>(garrick::child_options{}, p));
#elif defined(GARRICK_WITHOUT_child_body)
  static_cast<void>(garrick::child(body));
#elif defined(GARRICK_WITHOUT_pool)
  static_cast<void>(garrick::spawn_pool<worker>(system, 4, p));
#else
  static_cast<void>(system.spawn<worker>(1, "text", std::string(text), options().limit));
  static_cast<void>(system.spawn<worker>(garrick::lent(p), garrick::lent(n)));
  static_cast<void>(system.spawn(garrick::lent(body)));
  static_cast<void>(self.spawn([](garrick::dynamic_actor&, int& x) { ++x; }, garrick::lent(n)));
  static_cast<void>(garrick::spawn_pool<worker>(system, 4, garrick::lent(n)));
#endif
}
