// expect: wrap anything else with garrick::adapt
#include <garrick/garrick.hpp>

#include <coroutine>

class impatient : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  garrick::task<void> on(int) {
#ifdef GARRICK_CONTROL
    static_cast<void>(co_await delay(garrick::duration::seconds(1)));
#else
    co_await std::suspend_always{};
#endif
  }
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<impatient>()); }
