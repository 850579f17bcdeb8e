// expect: handler_of<
// expect: for this signature of the protocol returns something else
// expect: question
// max-lines: 15
#include <garrick/garrick.hpp>

struct question {};

class rounding : public garrick::actor<garrick::protocol<int(question)>> {
 public:
#ifdef GARRICK_CONTROL
  short on(question) { return 1; }
#else
  double on(question) { return 1.5; }
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<rounding>()); }
