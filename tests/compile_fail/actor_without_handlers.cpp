// expect: handler_of<
// expect: has no fitting (or an ambiguous) handler on(...) for this signature of its protocol
// expect: known
// max-lines: 15
#include <garrick/garrick.hpp>

struct known {};

class empty : public garrick::actor<garrick::protocol<void(known)>> {
#ifdef GARRICK_CONTROL
 public:
  void on(known) {}
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<empty>()); }
