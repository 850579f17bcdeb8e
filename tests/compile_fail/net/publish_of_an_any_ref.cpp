// expect: an any_ref does not name the actor's messages
// Others find an actor with a protocol.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

using counter = garrick::protocol<int(int)>;

#ifdef GARRICK_CONTROL
auto test(garrick::net::node& node, const garrick::ref<counter>& who) {
  return node.publish("counter", who).has_value();
}
#else
auto test(garrick::net::node& node, const garrick::any_ref& who) {
  return node.publish("counter", who).has_value();
}
#endif
