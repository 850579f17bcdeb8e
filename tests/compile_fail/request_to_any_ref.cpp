// expect: a wildcard handle needs request_as<R>(to, ...)
#include <garrick/garrick.hpp>

void test(garrick::actor_system& system, const garrick::any_ref& to) {
#ifdef GARRICK_CONTROL
  const int x = system.request_as<int>(to, 1).get().value();
#else
  const int x = system.request(to, 1).get().value();
#endif
  static_cast<void>(x);
}
