// expect: handler_of<
// expect: has no fitting (or an ambiguous) handler on(...) for this signature of its protocol
// expect: forgotten
// max-lines: 15
#include <garrick/garrick.hpp>

struct known {};
struct forgotten {};

class incomplete : public garrick::actor<garrick::protocol<void(known), int(forgotten)>> {
 public:
  void on(known) {}
#ifdef GARRICK_CONTROL
  int on(forgotten) { return 1; }
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<incomplete>()); }
