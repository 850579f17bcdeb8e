// The message that tells an actor of a time without messages: see actor_base::set_receive_timeout.
//
// Thread safety: a value.
#pragma once

#include <garrick/base/time/clock.hpp>

namespace garrick::core {

/// Tells an actor that it has handled no message for the time that it gave to
/// `set_receive_timeout`.
///
///     void on_start() { set_receive_timeout(10s); }
///     void on(const receive_timeout&) { std::puts("no message for ten seconds"); }
struct receive_timeout {
  base::duration limit;  ///< the time given to `set_receive_timeout`
};

}  // namespace garrick::core
