// expect: a protocol has two signatures for one message
#include <garrick/garrick.hpp>

#ifdef GARRICK_CONTROL
using twice = garrick::protocol<void(int), int(long)>;
#else
using twice = garrick::protocol<void(int), int(const int&)>;
#endif

void test(const garrick::ref<twice>& to) { send(to, 1); }
