// expect: wrong_result<
// expect: for these signatures of the protocol return something else
// expect: question
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
