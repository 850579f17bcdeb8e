// expect: receiver_does_not_understand<
// expect: deposit
// expect: greeting
// expect: this message is not in the receiver's protocol
#include <garrick/garrick.hpp>

struct deposit {};
struct greeting {};
using account = garrick::protocol<void(deposit)>;

void test(garrick::actor_system& system, const garrick::ref<account>& acc) {
#ifdef GARRICK_CONTROL
  static_cast<void>(system.request(acc, deposit{}));
#else
  static_cast<void>(system.request(acc, greeting{}));
#endif
}
