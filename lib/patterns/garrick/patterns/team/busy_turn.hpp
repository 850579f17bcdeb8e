// A turn that takes long, and the actors that were woken in it. A worker keeps a runnable that it
// has just woken to itself, since it mostly runs that next, within a microsecond. An actor that
// works on a container for up to a millisecond would hold up its own helpers, until the ticker
// finds them: in 50 µs if processors are free, and later if they are not.
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
