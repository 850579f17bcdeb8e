// expect: cannot_be_encoded<
// expect: news<
// expect: means_nothing_elsewhere
// max-lines: clang 22: the headers from the node down to the check, six lines
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

struct price {
  long cents = 0;
};

#ifdef GARRICK_CONTROL
using reader = garrick::protocol<void(price)>;
#else
using reader = garrick::protocol<void(garrick::news<price>)>;
#endif

auto test(garrick::net::node& node, const garrick::ref<reader>& who) {
  return node.publish("reader", who).has_value();
}
