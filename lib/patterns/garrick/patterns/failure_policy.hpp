// What becomes of a stream whose stage throws.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>

namespace garrick::patterns {

/// What happens when a stage's `consume` throws. In each case what it has put out for that tuple is
/// dropped, and the failure is counted. A dead letter holds the tuple as it came, of which the node
/// keeps a copy meanwhile. A tuple that cannot be copied, or is of a trivial type, is in the letter
/// as the stage has left it (a stage that takes `T&&` may change it); of `ask` and of a
/// data-parallel pattern it is the error's text. A generator that throws after some of a tuple's
/// results were handed on, since they found no room, has put those out for good: its failure counts
/// as `partial` (report.hpp), without a dead letter.
enum class on_failure : std::uint8_t {
  /// The stream ends with an error that names the stage.
  fail,
  /// The tuple becomes a dead letter, and the stage goes on as it is. A source, which has no tuple,
  /// is asked for the next one; a generator that has thrown is over.
  skip,
  /// The tuple becomes a dead letter, and the stage goes on from a copy of what it was at first;
  /// its `on_start` is called again. One that has a function `on_restart()` is kept, and that is
  /// called instead, while the exception is being handled: `throw;` there ends the stream with it.
  /// A source begins from its first tuple.
  restart,
};

/// How many failures in a row of a source end the stream, whatever its policy, with an error that
/// names it. One that always throws would otherwise be asked for ever. The same holds for an
/// `on_time`, whose time does not change when it throws.
inline constexpr std::uint32_t most_failures_in_a_row = 1000;

}  // namespace garrick::patterns
