// each: remote spawn
// expect: this is no protocol<...>
// expect: and not its class
// Another process knows an actor by its protocol.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

using counter = garrick::protocol<int(int)>;

class counting : public garrick::actor<counter> {
 public:
  int on(int x) { return sum_ += x; }

 private:
  int sum_ = 0;
};

#if defined(GARRICK_WITHOUT_remote)
auto test(garrick::net::node& node) {
  return node.remote<counting>("tcp://127.0.0.1:4040", "counter").has_value();
}
#elif defined(GARRICK_WITHOUT_spawn)
auto test(garrick::net::node& node) {
  return node.spawn<counting>("tcp://127.0.0.1:4040", "counter").has_value();
}
#else
auto test(garrick::net::node& node) {
  return node.remote<counter>("tcp://127.0.0.1:4040", "counter").has_value() &&
         node.spawn<counter>("tcp://127.0.0.1:4040", "counter").has_value();
}
#endif
