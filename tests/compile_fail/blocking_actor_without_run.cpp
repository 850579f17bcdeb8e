// expect: a blocking actor's class needs a public void run()
#include <garrick/garrick.hpp>

class collector : public garrick::blocking_actor {
 public:
  void on_start() {}
};

int main() {
  garrick::actor_system system;
  static_cast<void>(system.spawn<collector>());
}
