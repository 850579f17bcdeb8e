// expect: no_handler<forgetful, int (question)>|no_handler<forgetful, int(question)>
// expect: no public handler
#include <garrick/garrick.hpp>

struct question {};

class forgetful : public garrick::actor<garrick::protocol<int(question)>> {
#ifdef GARRICK_CONTROL
 public:
#endif
  int on(question) { return 1; }
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<forgetful>()); }
