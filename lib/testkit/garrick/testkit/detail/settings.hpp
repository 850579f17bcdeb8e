// The settings of a deterministic system, and the records it keeps. Users get this from
// test_system.hpp.
//
// Private: installed because test_system.hpp needs it.
//
// Thread safety: plain values.
#pragma once

#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/core/settings/settings.hpp>

#include <cstdint>
#include <string>

namespace garrick::testkit {

/// The settings of a deterministic system.
///
///     test_system kit({.seed = 17, .turn_limit = 10'000});
struct settings {
  std::uint64_t seed = 1;  ///< decides the order of turns
  /// As in an actor system, but no sender waits or runs its receiver in place.
  core::mailbox_settings mailbox{.in_place = false, .full_wait = {}};
  /// As in an actor system, but request cycles are always looked for.
  core::request_settings requests{.detect_cycles = true};
  /// A `run`, `run_until` or wait with more turns than this counts as a livelock.
  std::uint64_t turn_limit = 1'000'000;
  std::uint32_t threads = 64;  ///< most detached and blocking actors that live at once
  /// The system's own clock, as if its machine's clock differed from the world's: actors read it,
  /// and their timers use it. Must outlive the system. Null: the world's clock. Waits of blocking
  /// actors always use the world's clock.
  base::clock_service* clock = nullptr;
  base::probe* probe = nullptr;  ///< receives the events; must outlive the system; may be null
};

/// A dead letter: a message that was not delivered, or that failed its receiver.
struct lost_message {
  std::uint64_t sender = 0;    ///< the actor's id; 0: the test, or a thread
  std::uint64_t receiver = 0;  ///< the actor's id
  std::string type;            ///< the name of the message's type
  std::string content;         ///< the message, printed field by field
  base::error reason;          ///< the reason of the loss
  bool expected = false;       ///< an `expect_dead_letter` has taken it
};

}  // namespace garrick::testkit
