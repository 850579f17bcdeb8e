// The events on a simulated machine, as lines of text: wake-ups with their wakers, the processor of
// each thread, and the time that the thread had waited for it.
//
//   event_log log(1e6, 5e6);                  // nanoseconds of simulated time: from, to
//   log.follow(sim);
//   const outcome o = sim.run();
//   std::fputs(log.text().c_str(), stdout);
//
// A line contains the time in microseconds, the thread, and the event. A model adds lines of its
// own with `note`.
//
// Thread safety: like the simulation's.
#pragma once

#include <garrick/machine/time_sharing.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace garrick::machine {

class simulation;

/// The events of a stretch of simulated time.
class event_log {
 public:
  /// Keeps the events in [from_ns, to_ns).
  event_log(double from_ns, double to_ns) noexcept : from_ns_(from_ns), to_ns_(to_ns) {}
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  /// Observes this simulation. Call it before the simulation's run, after all threads have been
  /// added. Both objects must outlive the run.
  void follow(simulation& s);
  /// Returns true if events at this time are kept.
  [[nodiscard]] bool wants(double at_ns) const noexcept {
    return at_ns >= from_ns_ && at_ns < to_ns_;
  }
  /// Adds a line for the running simulated thread, if the present time is wanted.
  void note(const std::string& what);
  /// Returns the lines in the order of their times, each with a line feed.
  [[nodiscard]] std::string text() const;

 private:
  struct line {
    double at_ns;
    std::string thread;
    std::string what;
  };

  void add(const thread_event& e);

  double from_ns_;
  double to_ns_;
  const simulation* of_ = nullptr;
  std::vector<line> lines_;
};

}  // namespace garrick::machine
