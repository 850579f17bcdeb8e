// expect: receiver_does_not_understand<
// expect: deposit
// expect: greeting
// expect: this message is not in the receiver's protocol
#include <garrick/garrick.hpp>

struct deposit {};
struct greeting {};
using account = garrick::protocol<void(deposit)>;

void test(const garrick::ref<account>& acc) {
#ifdef GARRICK_CONTROL
  send(acc, deposit{});
#else
  send(acc, greeting{});  // account
#endif
}
