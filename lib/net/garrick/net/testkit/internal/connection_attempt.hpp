// The way to a stream's connection: one end knocks, the other answers.
//
// Thread safety: one thread at a time.
#pragma once

#include "garrick/net/testkit/internal/stream_end.hpp"

namespace garrick::net::testkit::internal {

/// Returns the function by which an end of this network asks the other host for a connection, and
/// asks again while that host does not answer.
[[nodiscard]] stream_end::knocking knocking_in(engine& net);

}  // namespace garrick::net::testkit::internal
