// What a deterministic system can be told, and what it records.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/environment.hpp>

#include <cstdint>
#include <string>

namespace garrick::testkit {

/// Limits as in an actor system, but nothing waits and nobody runs anybody in place unless a test
/// asks for it; request cycles are looked for.
[[nodiscard]] inline core::settings test_limits() {
  core::settings s;
  s.in_place = false;
  s.full_wait_ns = 0;
  s.detect_request_cycles = true;
  return s;
}

struct options {
  std::uint64_t seed = 1;  ///< what decides who runs when
  core::settings limits = test_limits();
  /// turns of one run() or get() after which it is a livelock
  std::uint64_t turn_limit = 1'000'000;
  std::uint32_t threads = 64;  ///< detached and blocking actors at most
  base::probe* probe = nullptr;
};

/// A dead letter.
struct lost_message {
  std::uint64_t sender = 0;  ///< 0: the test
  std::uint64_t receiver = 0;
  std::string type;
  std::string content;  ///< printed field by field
  base::error reason;
  bool expected = false;  ///< an expect_dead_letter has taken it
};

}  // namespace garrick::testkit
