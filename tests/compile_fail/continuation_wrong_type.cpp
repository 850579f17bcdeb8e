// expect: the function does not take the response's values
#include <garrick/garrick.hpp>

#include <string>

using source = garrick::protocol<int(long)>;

class asks : public garrick::actor<garrick::protocol<void(int)>> {
  garrick::ref<source> to_;

 public:
  void on(int) {
#ifdef GARRICK_CONTROL
    request(to_, 1L).then([](int){});
#else
    request(to_, 1L).then([](const std::string&) {});
#endif
  }
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<asks>()); }
