// expect: a stack begins with its transport: stack<datagrams, ...>, stack<byte_stream, ...>
// expect: stack_without_transport<
// expect: slicing
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;

#ifdef GARRICK_CONTROL
using composed = stack<datagrams, slicing, ordering>;
#else
using composed = stack<slicing, ordering>;
#endif

static_assert(sizeof(composed) != 0);
