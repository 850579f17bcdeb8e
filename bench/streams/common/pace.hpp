// The times at which tuples leave their source, and their time on the way: for all applications of
// this group.
#pragma once

#include <vector>

#include "common/measure.hpp"

namespace bench {

// A source's schedule: at full speed, or this many tuples a second. Then the source turns on the
// spot until a tuple is due, so it needs a thread of its own.
class pace {
 public:
  explicit pace(std::uint64_t per_second)
      : gap_ns_(per_second == 0 ? 0 : 1'000'000'000 / static_cast<std::int64_t>(per_second)) {}

  // Waits for the next tuple's time. Returns the tuple's stamp: 0 at full speed.
  std::int64_t next() {
    if (gap_ns_ == 0) return 0;
    if (due_ns_ == 0) due_ns_ = now_ns();
    due_ns_ += gap_ns_;
    std::int64_t now = now_ns();
    while (now < due_ns_) now = now_ns();
    return now;
  }

 private:
  std::int64_t gap_ns_;
  std::int64_t due_ns_ = 0;
};

// From a tuple's stamp to the sink.
class latency_log {
 public:
  void add(std::int64_t stamp) {
    if (stamp != 0) all_.push_back(now_ns() - stamp);
  }
  // Without the first tenth: caches and pages are warm after that.
  void into(result& out) {
    if (all_.empty()) return;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(all_.size() / 10));
    out.latencies(std::move(all_));
  }

 private:
  std::vector<std::int64_t> all_;
};

}  // namespace bench
