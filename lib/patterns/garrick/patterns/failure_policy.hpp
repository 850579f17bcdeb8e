// The consequences of an exception in a stage of a stream.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>

namespace garrick::patterns {

/// The reaction to an exception of a stage's `consume`. In each case the results that the stage has
/// put out for that tuple are dropped, and the failure is counted. A dead letter holds the tuple in
/// its original state, of which the node keeps a copy meanwhile. A tuple that cannot be copied, or
/// is of a trivial type, is in the letter as the stage has left it (a stage that takes `T&&` may
/// change it); the letter of `ask` and of a data-parallel pattern is the error's text. A generator
/// may throw after some of a tuple's results were handed on because they found no room. These
/// results stay: the failure counts as `partial` (report.hpp), and makes no dead letter.
///
///     const auto parse = seq(number_in).named("parse");
///     const auto lenient = spawn(system, pipeline(texts, parse.on(on_failure::skip), sum));
enum class on_failure : std::uint8_t {
  /// The stream ends with an error that names the stage.
  fail,
  /// The tuple becomes a dead letter, and the stage goes on as it is. A source, which has no tuple,
  /// is asked for the next one; a generator that has thrown has ended.
  skip,
  /// The tuple becomes a dead letter, and the stage goes on from a copy of its initial state; its
  /// `on_start` is called again. A stage with a function `on_restart()` is kept, and that function
  /// is called instead, while the exception is being handled: `throw;` in that function ends the
  /// stream with the exception. A source begins from its first tuple.
  restart,
};

/// A source that fails this many times in a row ends the stream, whatever its policy, with an error
/// that names it. A source that always throws would otherwise be asked for ever. The same holds for
/// an `on_time`, whose time does not change when it throws.
inline constexpr std::uint32_t most_failures_in_a_row = 1000;

}  // namespace garrick::patterns
