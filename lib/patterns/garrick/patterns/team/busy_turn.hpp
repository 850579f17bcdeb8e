// Lets other workers run the actors that a long turn has woken. A worker keeps a runnable that it
// has just woken to itself, since it usually runs that runnable next, within a microsecond. But an
// actor that works on a container for up to a millisecond would hold up its own helpers, until the
// ticker finds them: in 50 µs if processors are free, and later if they are not.
//
// Private: installed because templates need it.
//
// Thread safety: `others_may_begin` is about the calling thread.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/concurrency/thread_state.hpp>

namespace garrick::patterns::detail {

/// Lets other workers run the actors that this turn has woken so far. Called in a turn that takes
/// long.
inline void others_may_begin() noexcept {
  if (base::executor* const worker = base::this_thread.worker_of) worker->expose();
}

}  // namespace garrick::patterns::detail
