// expect: a message type may be aligned to 32 bytes at most
#include <garrick/garrick.hpp>

#ifdef GARRICK_CONTROL
struct alignas(32) wide {
#else
struct alignas(64) wide {
#endif
  float x[16];
};

class answers : public garrick::actor<garrick::protocol<wide(int)>> {
 public:
  wide on(int) { return {}; }
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<answers>()); }
