// expect: cannot_be_encoded<
// expect: message.1
// expect: weak_ref<
// expect: means_nothing_elsewhere
// max-lines: clang 22: the headers from the node down to the check, six lines
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <string>

using listener = garrick::protocol<void(int)>;

struct invitation {
  std::string what;
#ifdef GARRICK_CONTROL
  garrick::ref<listener> from;
#else
  garrick::weak_ref<listener> from;
#endif
};

auto test(garrick::net::node& node, const garrick::ref<garrick::protocol<void(invitation)>>& who) {
  return node.publish("guest", who).has_value();
}
