// expect: on_exit(const exit_reason&) returns void
#include <garrick/garrick.hpp>

class slow : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  void on(int) {}
#ifdef GARRICK_CONTROL
  void on_exit(const garrick::exit_reason&) {}
#else
  garrick::task<> on_exit(const garrick::exit_reason&) { co_return; }
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<slow>()); }
