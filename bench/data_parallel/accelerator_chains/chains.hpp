// Chains of actors, each with a heavy one, between a generator and a collector (paper 003 §6.3,
// figures 26 to 28): the schedule, the message, and the expected result.
//
// Thread safety: `run` belongs to the generator's thread, `arrived` to the collector; they meet in
// `done_`.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "data_parallel/accelerator/matrix.hpp"

namespace bench {

// The message of a chain: a container, and the time at which it was sent.
struct parcel {
  std::int64_t sent = 0;
  row elements;
};

// `--chains` of `--actors` each, the fourth of which is heavy: it computes a function of `--steps`
// steps for each of `--elements`. `--rate` messages a second to the chains in turn, for `--ms`
// milliseconds; 0: all at once, one to each chain.
class chains_run {
 public:
  explicit chains_run(arguments& args)
      : chains(args.count("chains", 100)),
        actors(static_cast<std::uint32_t>(args.number("actors", 8, 4, 1000))),
        steps(args.number("steps", 800)),
        elements_(args.count("elements", 5000)),
        rate_(args.number("rate", 100, 0, 1'000'000)),
        ms_(args.count("ms", 2000)),
        messages_(rate_ == 0 ? chains : std::max<std::uint64_t>(rate_ * ms_ / 1000, 1)) {
    samples_.reserve(messages_);
  }

  const std::uint32_t chains;
  const std::uint32_t actors;
  const std::uint64_t steps;

  // Calls `send(chain, parcel)` for each message when it is due, and returns when all have arrived.
  // A message that is late is sent at once, so the rate holds on average.
  template <class Send>
  void run(Send send) {
    const double cpu = cpu_seconds();
    const std::int64_t start = now_ns() + 1'000'000;
    for (std::uint64_t i = 0; i < messages_; ++i) {
      parcel p{0, row(elements_)};
      for (std::uint64_t k = 0; k < elements_; ++k) p.elements[k] = i * elements_ + k;
      if (rate_ != 0) sleep_until(start + static_cast<std::int64_t>(i * 1'000'000'000 / rate_));
      p.sent = now_ns();
      send(static_cast<std::size_t>(i % chains), std::move(p));
    }
    while (!done_.load(std::memory_order_acquire))  // order: pairs with the store in `arrived`
      sleep_until(now_ns() + 100'000);
    cpu_ = cpu_seconds() - cpu;
    seconds_ = seconds_since(start);
  }

  // The collector got this.
  void arrived(const parcel& p) {
    samples_.push_back(now_ns() - p.sent);
    sum_ += sum_of(p.elements);
    // order: pairs with the load in `run`
    if (samples_.size() == messages_) done_.store(true, std::memory_order_release);
  }

  // After the system's end.
  void report(result& out) {
    out.seconds = seconds_;
    out.items = messages_;
    out.expect("messages", messages_, samples_.size());
    out.expect("sum", right_sum(), sum_);
    out.cpu(cpu_);
    out.detail("cpu_us_per_message", cpu_ * 1e6 / static_cast<double>(messages_));
    out.latencies(std::move(samples_));
  }

 private:
  static void sleep_until(std::int64_t until) {
    const timespec t{static_cast<time_t>(until / 1'000'000'000),
                     static_cast<long>(until % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
  }

  // `steps` applications of x -> a·x + b are one such function, found by squaring.
  [[nodiscard]] std::uint64_t right_sum() const {
    std::uint64_t a = 1, b = 0;
    std::uint64_t pa = 6364136223846793005ull, pb = 1442695040888963407ull;
    for (std::uint64_t rest = steps; rest != 0; rest /= 2) {
      if (rest % 2 != 0) b = pa * b + pb, a = pa * a;
      pb = pa * pb + pb, pa = pa * pa;
    }
    const std::uint64_t n = messages_ * elements_;
    return a * (n * (n - 1) / 2) + b * n;
  }

  const std::uint64_t elements_;
  const std::uint64_t rate_;
  const std::uint64_t ms_;
  const std::uint64_t messages_;

  double cpu_ = 0;
  double seconds_ = 0;
  std::vector<std::int64_t> samples_;  // the collector's, until done_
  std::uint64_t sum_ = 0;
  std::atomic<bool> done_{false};
};

}  // namespace bench
