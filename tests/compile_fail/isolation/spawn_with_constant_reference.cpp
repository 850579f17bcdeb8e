// expect: argument.0.0
// expect: is_a_reference
// An actor's argument is looked into for references, too.
#include <garrick/garrick.hpp>

struct named {
#ifdef GARRICK_CONTROL
  std::string name;
#else
  const std::string& name;
#endif
};

class greeter : public garrick::actor<garrick::protocol<std::string(int)>> {
 public:
  explicit greeter(named who) : who_(who) {}
  std::string on(int) { return who_.name; }

 private:
  named who_;
};

void test(garrick::actor_system& system, const std::string& name) {
  system.spawn<greeter>(named{name});
}
