// The limit to the number of awake workers where the system has no processors for more.
//
// A worker that is woken for work helps only if it gets a processor of its own. Where other threads
// hold the processors, it takes turns with them and with the workers that it should help: the same
// work is spread over two caches and costs twice as much, so that all workers seem busy, and no
// worker goes back to sleep. So there is a limit to the number of workers that are woken for work.
// It is the number of all workers, until the system's own account of them shows that they wait for
// processors, and that fewer workers could have used the same processor time.
//
//   lowered   In a window of a millisecond or more the workers together waited for a processor for
//             a fifth of its length or more, and together ran for at most (limit - 3/4) lengths.
//             The limit becomes the time that they ran, in lengths, less 1/4, rounded up. But the
//             limit stays if the helper has hardly looked, or often saw many runnables wait at a
//             worker: other workers could run some of them.
//   raised    Work waits: at more than half of the looks many runnables waited at a worker, or a
//             worker had open work at every look for as long as a window and never emptied its
//             slot and its deque in between. The limit doubles, and
//             is not lowered for some time even if workers wait. This time doubles whenever the
//             lowering before was wrong.
//   tried     The limit has been low for long. It is raised to see whether a low limit is still
//             needed. If so, the time until the next try doubles.
//
// A limit is not a promise: the ticker wakes another worker beyond it for a worker that is behind
// (slot_looks.hpp), since that worker may have lost its processor. A worker that is beyond the
// limit sleeps as soon as its own queues are empty.
//
// Thread safety: none; only the helper thread uses it.
#pragma once

#include <garrick/base/platform/platform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace garrick::sched {

/// The limit to the number of awake workers, from one window to the next. Times in nanoseconds.
class worker_limit {
 public:
  static constexpr std::uint64_t shortest_patience_ns = 4'000'000;     ///< after a wrong lowering
  static constexpr std::uint64_t longest_patience_ns = 1'000'000'000;  ///< after several of them
  static constexpr std::uint64_t shortest_hold_ns = 500'000'000;       ///< until a try
  static constexpr std::uint64_t longest_hold_ns = 10'000'000'000;     ///< after failed tries
  /// a lowering, or a try, that lasts for this time was right
  static constexpr std::uint64_t verdict_ns = 50'000'000;

  /// The account of a window.
  struct window {
    std::uint64_t passed = 0;  ///< its length
    std::uint64_t ran = 0;     ///< the time for which the workers together had processors
    std::uint64_t waited = 0;  ///< the time for which they together could run and had none
    bool work_waits = false;   ///< work waits, as `raised` above says
  };

  /// For this number of workers, all of which may be awake at first.
  explicit worker_limit(std::uint32_t workers) noexcept : all_(workers), now_(workers) {}

  /// Returns the number of workers that may be awake.
  [[nodiscard]] std::uint32_t now() const noexcept { return now_; }

  /// Judges a window that has ended at `at`. Returns the number of workers that may be awake from
  /// now on.
  std::uint32_t judge(std::uint64_t at, const window& w) noexcept {
    if (w.work_waits) {
      raise_for_need(at);
    } else if (now_ > 1 && at >= patient_until_ && w.waited * 5 >= w.passed && fitting(w) < now_) {
      lower(at, fitting(w));
    } else if (now_ < all_ && at - lowered_at_ >= hold_) {
      tried_at_ = at;
      now_ = all_;
    }
    return now_;
  }

 private:
  /// Returns the number of workers that would be busy all the time with the work of all of them.
  [[nodiscard]] static std::uint32_t fitting(const window& w) noexcept {
    const std::uint64_t beyond = w.ran - std::min(w.ran, w.passed / 4);
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, (beyond + w.passed - 1) / w.passed));
  }

  void lower(std::uint64_t at, std::uint32_t to) noexcept {
    const bool try_failed = tried_at_ != 0 && at - tried_at_ < verdict_ns;
    hold_ = try_failed ? std::min(hold_ * 2, longest_hold_ns) : shortest_hold_ns;
    tried_at_ = 0;
    lowered_at_ = at;
    now_ = to;
  }

  void raise_for_need(std::uint64_t at) noexcept {
    if (now_ == all_) return;
    const bool was_wrong = at - lowered_at_ < verdict_ns;
    patience_ = was_wrong ? std::min(patience_ * 2, longest_patience_ns) : shortest_patience_ns;
    patient_until_ = at + patience_;
    now_ = std::min(all_, now_ * 2);
  }

  std::uint32_t all_;
  std::uint32_t now_;
  std::uint64_t lowered_at_ = 0;
  std::uint64_t tried_at_ = 0;  // 0: no try since the last lowering
  std::uint64_t patient_until_ = 0;
  std::uint64_t patience_ = shortest_patience_ns / 2;
  std::uint64_t hold_ = shortest_hold_ns;
};

/// The looks of the helper thread from which windows are made.
class crowd_looks {
 public:
  /// For looks at this number of workers.
  explicit crowd_looks(std::uint32_t workers) : limit_(workers), seen_(workers) {}

  /// Looks at all of a policy's workers, at `at`. Returns the number of workers that may be awake.
  template <class Workers, class Sleepers>
  std::uint32_t look(const Workers& workers, const Sleepers& sleepers, std::uint64_t at) noexcept {
    ++looks_;
    bool many = false;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      many = many || workers[i]->deque.size() >= many_runnables;
      sample& s = seen_[i];
      const std::uint64_t emptied = workers[i]->emptied.get();
      if (emptied == s.emptied && workers[i]->has_open_work()) continue;
      s.emptied = emptied;
      s.moved_at = at;
    }
    if (many) ++looks_at_many_;
    if (at - began_at_ < length_) return limit_.now();
    worker_limit::window w{.passed = at - began_at_};
    const bool complete = account(workers, sleepers, w);
    // Then the helper slept in between, or had no processor.
    const bool too_long = w.passed > 4 * length_;
    if (!too_long)
      for (const sample& s : seen_) w.work_waits = w.work_waits || at - s.moved_at >= length_;
    w.work_waits = w.work_waits || looks_at_many_ * 2 > looks_;
    if (too_long || !complete || looks_ < fewest_looks || looks_at_many_ * 4 > looks_)
      w.ran = w.waited = 0;
    looks_ = looks_at_many_ = 0;
    began_at_ = at;
    return limit_.judge(at, w);
  }

 private:
  static constexpr std::uint64_t shortest_window_ns = 1'000'000;
  static constexpr std::uint64_t window_ns_each = 256'000;  ///< a reading takes about 2 µs
  /// runnables that wait in a deque: more than a pipeline has there, so others could run some
  static constexpr std::size_t many_runnables = 8;
  static constexpr std::uint32_t fewest_looks = 4;  ///< of a window after which the limit may fall

  struct sample {
    std::uint64_t emptied = 0;
    std::uint64_t moved_at = 0;
    std::uint64_t parks = 0;
    base::platform::processor_times times;
  };

  /// Adds to `w` how long the workers that were awake in this window have run and waited since
  /// their times were last read. Returns false if the system did not tell the times of all of them.
  template <class Workers, class Sleepers>
  bool account(const Workers& workers, const Sleepers& sleepers, worker_limit::window& w) noexcept {
    std::uint64_t read = 0;
    bool complete = true;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      sample& s = seen_[i];
      const std::uint64_t parks = workers[i]->figures.parks();
      if (std::exchange(s.parks, parks) == parks &&
          sleepers.looks_parked(static_cast<std::uint32_t>(i)))
        continue;
      const auto now = workers[i]->front.times();
      if (!now) {
        complete = false;
        continue;
      }
      ++read;
      w.ran += now->ran_ns - s.times.ran_ns;
      w.waited += now->waited_ns - s.times.waited_ns;
      s.times = *now;
    }
    length_ = std::max(shortest_window_ns, read * window_ns_each);
    return complete;
  }

  worker_limit limit_;
  std::vector<sample> seen_;
  std::uint32_t looks_ = 0;  // in this window, both
  std::uint32_t looks_at_many_ = 0;
  std::uint64_t began_at_ = 0;
  std::uint64_t length_ = shortest_window_ns;
};

}  // namespace garrick::sched
