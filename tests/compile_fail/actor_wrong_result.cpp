// expect: wrong_result<
// expect: for these signatures of the protocol return something else
// expect: question
#include <garrick/garrick.hpp>

#include <string>

struct question {};

class liar : public garrick::actor<garrick::protocol<int(question)>> {
 public:
#ifdef GARRICK_CONTROL
  int on(question) { return 1; }
#else
  std::string on(question) { return "one"; }
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<liar>()); }
