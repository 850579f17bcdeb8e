// What a deterministic system can be told, and what it records. Users get this from
// test_system.hpp.
//
// Private: installed because test_system.hpp needs it.
//
// Thread safety: plain values.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/environment.hpp>

#include <cstdint>
#include <string>

namespace garrick::testkit {

/// The limits of an actor system with three differences: no sender waits, no sender runs its
/// receiver in place, and request cycles are looked for. A test may set them otherwise.
[[nodiscard]] inline core::settings test_limits() {
  core::settings s;
  s.in_place = false;
  s.full_wait_ns = 0;
  s.detect_request_cycles = true;
  return s;
}

/// What a deterministic system can be told.
///
///     test_system kit({.seed = 17, .turn_limit = 10'000});
struct options {
  std::uint64_t seed = 1;                 ///< what decides who runs when
  core::settings limits = test_limits();  ///< of mailboxes, requests and runs
  /// Turns of one `run`, `run_until` or wait after which it counts as a livelock.
  std::uint64_t turn_limit = 1'000'000;
  std::uint32_t threads = 64;    ///< most detached and blocking actors that live at once
  base::probe* probe = nullptr;  ///< is told what happens; must outlive the system; null: nobody
};

/// A dead letter: a message that was not delivered, or that failed its receiver.
struct lost_message {
  std::uint64_t sender = 0;    ///< the actor's id; 0: the test, or a thread
  std::uint64_t receiver = 0;  ///< the actor's id
  std::string type;            ///< the name of the message's type
  std::string content;         ///< the message, printed field by field
  base::error reason;          ///< why it was lost
  bool expected = false;       ///< an `expect_dead_letter` has taken it
};

}  // namespace garrick::testkit
