// expect: a layer of this stack does not fit on the part below it
// expect: layer_does_not_fit<compressing, compression::must_see_whole_messages>
// A layer of one's own has reasons of its own.
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;

enum class compression { fits, must_see_whole_messages };

struct compressing : layer_defaults {
  static constexpr compression check_below(properties below) {
    return below.messages ? compression::fits : compression::must_see_whole_messages;
  }
};

#ifdef GARRICK_CONTROL
using composed = stack<byte_stream, compressing, framing>;
#else
using composed = stack<byte_stream, framing, compressing>;
#endif

static_assert(composed::provides.messages);
