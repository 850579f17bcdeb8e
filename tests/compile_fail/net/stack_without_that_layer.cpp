// expect: the stack has no layer of this class, or several
// A stack is asked for layers that it has.
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;

#ifdef GARRICK_CONTROL
using wanted = slicing;
#else
using wanted = framing;
#endif

void forget(stack<datagrams, slicing, ordering>& s) {
  auto& layer = s.get<wanted>();
  static_cast<void>(layer);
}
