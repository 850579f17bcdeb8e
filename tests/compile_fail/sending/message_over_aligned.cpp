// expect: a message type may be aligned to 32 bytes at most
#include <garrick/garrick.hpp>

#ifdef GARRICK_CONTROL
struct alignas(32) wide {
#else
struct alignas(64) wide {
#endif
  float x[16];
};

void test(const garrick::any_ref& to) { send(to, wide{}); }
