// each: needs_messages_as_framing_makes_them needs_a_stream_but_messages_are_below
// each: needs_datagrams_a_stream_is_reliable_already needs_order_as_ordering_makes_it
// each: needs_reliability_below needs_sessions_as_the_layer_session_has_them
// each: what_is_below_has_order_already what_is_below_has_sessions_already
// expect: a layer of this stack does not fit on the part below it
// expect: layer_does_not_fit<
// expect: misfit::{}
// Each layer of a stack fits on those below it.
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;

#if defined(GARRICK_WITHOUT_needs_messages_as_framing_makes_them)
using composed = stack<byte_stream, actor_protocol, slicing, session>;
#elif defined(GARRICK_WITHOUT_needs_a_stream_but_messages_are_below)
using composed = stack<datagrams, slicing, session, framing>;
#elif defined(GARRICK_WITHOUT_needs_datagrams_a_stream_is_reliable_already)
using composed = stack<byte_stream, slicing, reliability, session, framing>;
#elif defined(GARRICK_WITHOUT_needs_order_as_ordering_makes_it)
using composed = stack<datagrams, redelivery, slicing, reliability, session>;
#elif defined(GARRICK_WITHOUT_needs_reliability_below)
using composed = stack<datagrams, redelivery, slicing, ordering, session>;
#elif defined(GARRICK_WITHOUT_needs_sessions_as_the_layer_session_has_them)
using composed = stack<datagrams, redelivery, slicing, ordering, reliability>;
#elif defined(GARRICK_WITHOUT_what_is_below_has_order_already)
using composed = stack<byte_stream, slicing, ordering, session, framing>;
#elif defined(GARRICK_WITHOUT_what_is_below_has_sessions_already)
using composed = stack<datagrams, slicing, session, session>;
#else
using composed = stack<datagrams, redelivery, slicing, ordering, reliability, session>;
#endif

static_assert(composed::provides.messages);
