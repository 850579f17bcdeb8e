// Settings for tests that want nothing in the log.
#pragma once

#include <garrick/garrick.hpp>

#include <cstdint>

namespace garrick::tests {

/// No log, no watchdog, and few workers.
inline settings quiet(std::uint32_t workers = 2) {
  settings o;
  o.scheduler.workers = workers;
  o.log.level = system::log_level::off;
  o.watchdog.after = {};
  return o;
}

}  // namespace garrick::tests
