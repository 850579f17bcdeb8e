// each: framing layers
// expect: a byte stream needs `framing` as its lowest layer|a stack has at least one layer
// A stack hands messages to its owner.
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;

struct counting : layer_defaults {};

#if defined(GARRICK_WITHOUT_framing)
using composed = stack<byte_stream, counting>;
#elif defined(GARRICK_WITHOUT_layers)
using composed = stack<datagrams>;
#else
using composed = stack<byte_stream, counting, framing>;
#endif

static_assert(sizeof(composed) != 0);
