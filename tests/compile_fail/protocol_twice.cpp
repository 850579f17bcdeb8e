// each: handle actor
// expect: a protocol has two signatures for one message
#include <garrick/garrick.hpp>

using twice = garrick::protocol<void(int), int(const int&)>;

#ifdef GARRICK_WITHOUT_handle
struct holder {
  garrick::ref<twice> to;
};
#elif defined(GARRICK_WITHOUT_actor)
class server : public garrick::actor<twice> {};
#else
void test(const garrick::ref<garrick::protocol<void(int), int(long)>>& to) { send(to, 1); }
#endif
