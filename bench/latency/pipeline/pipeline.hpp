// Workload `latency` (paper 000): a generator on an absolute schedule, N actors in a row, a
// collector. This part is the same for all systems: the schedule, the samples, and the workers'
// processor time.
//
// Thread safety: `run` belongs to the generator's thread, `arrived` to the collector; they meet in
// `done_`.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "common/foreign.hpp"
#include "common/measure.hpp"

namespace bench {

// The message where hops are told apart: the time stamps of the generator and of each actor.
using trail = std::vector<std::int64_t>;

class pipeline_run {
 public:
  // `detached`: the actor, from 1, that has a thread of its own; 0: none. `foreign`: this many
  // threads of other processes turn on the spot meanwhile.
  pipeline_run(std::uint64_t rate, std::uint64_t actors, std::uint64_t ms, std::uint64_t detached,
               std::uint64_t foreign)
      : foreign_(foreign),
        rate_(rate),
        actors_(actors),
        ms_(ms),
        messages_(std::max<std::uint64_t>(rate * ms / 1000, 1)),
        detached_(detached) {
    samples_.reserve(messages_);
  }

  // Calls `send(stamp)` for each message when it is due, and returns when all have arrived. Sleeps
  // as long as the next is far, and turns on the spot before it is due; this thread's processor
  // time is not the workers'. A message that is late is sent at once, so the rate holds on average.
  template <class Send>
  void run(Send send) {
    const double cpu = cpu_seconds() - thread_cpu_seconds();
    const std::int64_t start = now_ns() + 1'000'000;
    for (std::uint64_t i = 0; i < messages_; ++i) {
      wait_until(start + static_cast<std::int64_t>(i * 1'000'000'000 / rate_));
      send(now_ns());
    }
    while (!done_.load(std::memory_order_acquire)) {  // order: pairs with the store in `arrived`
      const timespec pause{0, 100'000};
      nanosleep(&pause, nullptr);
    }
    cpu_ = cpu_seconds() - thread_cpu_seconds() - cpu;
    seconds_ = seconds_since(start);
  }

  // Notes that the collector got a message that was sent at this time.
  void arrived(std::int64_t sent) {
    in_order_ = in_order_ && sent >= last_;
    last_ = sent;
    samples_.push_back(now_ns() - sent);
    // order: pairs with the load in `run`
    if (samples_.size() == messages_) done_.store(true, std::memory_order_release);
  }

  void arrived(const trail& stamps) {
    if (stamps.size() == actors_ + 1) {
      std::int64_t before = stamps.front();
      for (std::uint64_t i = 1; i <= actors_; ++i) {
        hop& h = i == 1               ? to_pipeline_
                 : i == detached_     ? receive_
                 : i == detached_ + 1 ? send_
                                      : actor_;
        h.add(stamps[i] - before);
        before = stamps[i];
      }
      ++whole_;
    }
    arrived(stamps.empty() ? 0 : stamps.front());
  }

  [[nodiscard]] bool traced() const { return detached_ != 0; }
  [[nodiscard]] std::uint64_t actors() const { return actors_; }
  [[nodiscard]] std::uint64_t ms() const { return ms_; }
  [[nodiscard]] std::uint64_t detached() const { return detached_; }

  // After the system's end.
  void report(result& out) {
    out.seconds = seconds_;
    out.items = messages_;
    out.expect("messages", messages_, samples_.size());
    out.expect("in order", 1, in_order_ ? 1 : 0);
    out.cpu(cpu_);
    out.detail("cpu_percent", 100 * cpu_ / seconds_);
    out.detail("items_per_cpu_second", static_cast<double>(messages_) / std::max(cpu_, 1e-6));
    if (traced()) {
      out.expect("whole trails", messages_, whole_);
      out.detail("generator_to_pipeline_ns", to_pipeline_.mean());
      out.detail("actor_ns", actor_.mean());
      out.detail("receive_ns", receive_.mean());
      out.detail("send_ns", send_.mean());
    }
    out.latencies(std::move(samples_));
  }

 private:
  struct hop {
    double sum = 0;
    std::uint64_t count = 0;
    void add(std::int64_t ns) {
      sum += static_cast<double>(ns);
      ++count;
    }
    [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  };

  static double thread_cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }

  static void wait_until(std::int64_t due) {
    constexpr std::int64_t spin = 70'000;  // a sleep ends late by its timer slack and a wake-up
    if (due - now_ns() > spin) {
      const std::int64_t until = due - spin;
      const timespec t{static_cast<time_t>(until / 1'000'000'000),
                       static_cast<long>(until % 1'000'000'000)};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
    }
    while (now_ns() < due) {}
  }

  const foreign_spinners foreign_;
  const std::uint64_t rate_;
  const std::uint64_t actors_;
  const std::uint64_t ms_;
  const std::uint64_t messages_;
  const std::uint64_t detached_;

  double cpu_ = 0;
  double seconds_ = 0;

  std::vector<std::int64_t> samples_;  // the collector's, until done_
  std::int64_t last_ = 0;
  std::uint64_t whole_ = 0;
  bool in_order_ = true;
  hop to_pipeline_, actor_, receive_, send_;

  std::atomic<bool> done_{false};
};

// `--rate` messages a second, `--actors` in the pipeline, `--ms` long, `--detached i`: hops are
// told apart, and the i-th actor, which has neighbours on both sides, has a thread of its own.
// `--foreign n`: n threads of other processes turn on the spot meanwhile.
inline pipeline_run read_pipeline(arguments& args) {
  const std::uint64_t rate = args.number("rate", 10'000, 1, 1'000'000'000);
  const std::uint64_t actors = args.number("actors", 12, 2);
  const std::uint64_t ms = args.number("ms", 1000, 1, 1'000'000);
  const std::uint64_t detached = args.number("detached", 0, 0, actors - 1);
  if (detached == 1)
    arguments::fail("--detached is 1; the first actor's hop is that from the generator");
  return {rate, actors, ms, detached, args.number("foreign", 0, 0, 1024)};
}

}  // namespace bench
