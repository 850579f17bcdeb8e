// expect: constraints not satisfied
// expect: layer
// expect: Ls = {forgetful}|'forgetful' does not satisfy 'layer'
// A layer may leave its functions to `layer_defaults`.
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;

#ifdef GARRICK_CONTROL
struct forgetful : layer_defaults {
#else
struct forgetful {
#endif
  void send(outgoing, layer_context&) {}
};

using composed = stack<datagrams, forgetful>;
static_assert(composed::provides.messages);
