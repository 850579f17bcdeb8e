// A loop that runs when a test says so.
#pragma once

#include <garrick/core/loop_executor.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace garrick::tests {

/// Actors that are spawned with `executor` run within `run`, on its caller's thread.
struct by_hand {
  std::vector<core::loop_job> jobs;
  std::function<void()> at_post;  ///< called when an actor is scheduled, if there is one
  core::loop_executor executor{[this](core::loop_job job) {
    if (at_post) at_post();
    jobs.push_back(job);
  }};
  /// Runs jobs until none is left.
  void run() {
    while (!jobs.empty())
      for (const core::loop_job& job : std::exchange(jobs, {})) job();
  }
};

}  // namespace garrick::tests
