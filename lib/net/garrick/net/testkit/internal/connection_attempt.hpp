// The way to a stream's connection: one end knocks, the other answers.
//
// Thread safety: one thread at a time.
#pragma once

#include "garrick/net/testkit/internal/stream_end.hpp"

namespace garrick::net::testkit::internal {

/// Asks the other host for a connection, and again while it does not answer: `stream_end::knocking`
/// in this network.
[[nodiscard]] stream_end::knocking knocking_in(engine& net);

}  // namespace garrick::net::testkit::internal
