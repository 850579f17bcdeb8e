// Workload `latency_interactive`: actors that are asked now and then by a thread outside, beside a
// flood of messages that never runs dry, or beside actors with long handlers. This part is the same
// for all systems: the schedule, the computation of a handler, the samples, and the flood's rate.
//
// Thread safety: `run` belongs to the thread that asks, `answered` to the collector of the answers,
// `flooded` and `worked` to the actor of that number. They meet in atomics.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// The work of a handler: one multiplication after the other, about 1 ns each. Not inlined and
// aligned, so that all systems compute with the same instructions and equally fast.
[[gnu::noinline, gnu::aligned(64)]] inline std::uint64_t compute(std::uint64_t x,
                                                                 std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  return x;
}

struct question {
  std::uint64_t number;  // of this actor's questions, from 0
  std::int64_t sent;
};

struct answer {
  std::uint64_t actor;
  std::uint64_t number;
  std::int64_t sent;
  std::int64_t handled;
  std::uint64_t result;
};

struct interactive_settings {
  std::uint64_t ms;
  std::uint64_t actors;      // that are asked
  std::uint64_t rate;        // questions a second, together
  std::uint64_t steps;       // of a question's handler
  std::uint64_t slow;        // actors with long handlers
  std::uint64_t slow_rate;   // messages a second to them, together
  std::uint64_t slow_steps;  // of their handlers
  std::uint64_t flood;       // actors in the ring of the flood
  std::uint64_t flood_steps;
};

class interactive_run {
 public:
  static constexpr std::uint64_t tokens_each = 4;  // messages in the ring, for each of its actors

  explicit interactive_run(const interactive_settings& s)
      : s_(s),
        questions_(std::max<std::uint64_t>(s.rate * s.ms / 1000, 1)),
        heard_(s.actors),
        flood_(s.flood),
        slow_(s.slow) {
    to_handler_.reserve(questions_);
  }

  [[nodiscard]] const interactive_settings& settings() const { return s_; }

  // --- Actors ---

  // Takes a message of the flood and sets the next one. Returns false if the flood has ended.
  [[nodiscard]] bool flooded(std::uint64_t actor, std::uint64_t* token) {
    *token = compute(*token, s_.flood_steps);
    flood_[actor].value = *token;
    flood_[actor].add();
    return !over_.load(std::memory_order_relaxed);  // order: a hint, nothing is read because of it
  }

  // A question arrived. `handled` is the time before its handler computes.
  [[nodiscard]] answer ask(std::uint64_t actor, const question& q, std::int64_t handled) const {
    return {actor, q.number, q.sent, handled, compute(q.number, s_.steps)};
  }

  // A message to an actor with a long handler arrived.
  void worked(std::uint64_t actor, std::uint64_t value) {
    slow_[actor].value += compute(value, s_.slow_steps);
    slow_[actor].add();
  }

  void answered(const answer& a) {
    in_order_ = in_order_ && heard_[a.actor] == a.number;
    ++heard_[a.actor];
    if (a.number == 0) right_ = right_ && a.result == compute(0, s_.steps);
    to_handler_.push_back(a.handled - a.sent);
    to_answer_ += static_cast<double>(now_ns() - a.sent);
    // order: pairs with the load in `run`
    if (to_handler_.size() == questions_) done_.store(true, std::memory_order_release);
  }

  // --- The thread outside ---

  // Calls `ask(actor, question)` and `work(actor, value)` when they are due, each on an absolute
  // schedule, and sleeps in between. Returns when all are answered; then the flood has ended.
  template <class Ask, class Work>
  void run(Ask ask, Work work) {
    prctl(PR_SET_TIMERSLACK, 1);         // of this thread; the kernel's default is 50 us
    sleep_until(now_ns() + 50'000'000);  // the flood has begun by then
    const double cpu = cpu_seconds() - thread_cpu_seconds();
    const std::uint64_t flooded_before = total(flood_);
    const std::int64_t start = now_ns();
    std::uint64_t works = 0;
    for (std::uint64_t i = 0; i < questions_; ++i) {
      const std::int64_t due = start + static_cast<std::int64_t>(i * 1'000'000'000 / s_.rate);
      for (; s_.slow != 0; ++works) {
        const std::int64_t work_due =
            start + static_cast<std::int64_t>(works * 1'000'000'000 / s_.slow_rate);
        if (work_due > due) break;
        sleep_until(work_due);
        work(works % s_.slow, works);
      }
      sleep_until(due);
      const std::int64_t now = now_ns();
      late_ += static_cast<double>(now - due);
      ask(i % s_.actors, question{i / s_.actors, now});
    }
    const double flooding = seconds_since(start);
    const std::uint64_t flooded = total(flood_) - flooded_before;
    // order: pairs with the store in `answered`
    while (!done_.load(std::memory_order_acquire) || total(slow_) != works)
      sleep_until(now_ns() + 100'000);
    cpu_ = cpu_seconds() - thread_cpu_seconds() - cpu;
    seconds_ = seconds_since(start);
    flood_per_second_ = static_cast<double>(flooded) / flooding;
    works_ = works;
    over_.store(true, std::memory_order_relaxed);  // order: a hint, the actors' ends are awaited
  }

  // After the system's end.
  void report(result& out) {
    const double questions = static_cast<double>(questions_);
    out.seconds = seconds_;
    out.items = questions_;
    out.expect("answers", questions_, to_handler_.size());
    out.expect("answers in order", 1, in_order_ ? 1 : 0);
    out.expect("right answers", 1, right_ ? 1 : 0);
    out.expect("long handlers", works_, total(slow_));
    out.cpu(cpu_);
    out.detail("cpu_percent", 100 * cpu_ / seconds_);
    out.detail("answer_ns", to_answer_ / questions);
    out.detail("asked_late_ns", late_ / questions);
    if (s_.flood != 0) {
      if (std::any_of(flood_.begin(), flood_.end(), [](const tally& t) { return t.count() == 0; }))
        out.error("an actor of the flood never ran");
      out.detail("flood_per_second", flood_per_second_);
    }
    out.latencies(std::move(to_handler_));
  }

 private:
  // The count of one actor's messages, on a line of its own. Only that actor writes.
  struct alignas(64) tally {
    std::atomic<std::uint64_t> done{0};
    std::uint64_t value = 0;

    void add() {
      // order: one writer; the release pairs with the load in `count`
      done.store(done.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    // order: pairs with the store in `add`
    [[nodiscard]] std::uint64_t count() const { return done.load(std::memory_order_acquire); }
  };

  static std::uint64_t total(const std::vector<tally>& all) {
    std::uint64_t sum = 0;
    for (const tally& t : all) sum += t.count();
    return sum;
  }

  static double thread_cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }

  static void sleep_until(std::int64_t due) {
    const timespec t{static_cast<time_t>(due / 1'000'000'000),
                     static_cast<long>(due % 1'000'000'000)};
    if (now_ns() < due) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
  }

  const interactive_settings s_;
  const std::uint64_t questions_;

  double cpu_ = 0;
  double seconds_ = 0;
  double late_ = 0;
  double flood_per_second_ = 0;
  std::uint64_t works_ = 0;

  std::vector<std::int64_t> to_handler_;  // the collector's, until done_
  std::vector<std::uint64_t> heard_;      // answers of each actor
  double to_answer_ = 0;
  bool in_order_ = true;
  bool right_ = true;

  std::vector<tally> flood_;
  std::vector<tally> slow_;
  std::atomic<bool> over_{false};
  std::atomic<bool> done_{false};
};

// `--ms` long; `--actors` that get `--rate` questions a second together, each worth `--steps`;
// beside them `--flood` actors in a ring, `--flood_steps` for each message, and `--slow` actors
// that get `--slow_rate` messages a second together, each worth `--slow_steps`.
inline interactive_settings read_interactive(arguments& args) {
  interactive_settings s{};
  s.ms = args.number("ms", 1000, 1, 1'000'000);
  s.actors = args.number("actors", 1, 1, 1'000'000);
  s.rate = args.number("rate", 1000, 1, 1'000'000'000);
  s.steps = args.number("steps", 0);
  s.slow = args.number("slow", 0, 0, 1'000'000);
  s.slow_rate = args.number("slow_rate", 100, 1, 1'000'000'000);
  s.slow_steps = args.number("slow_steps", 1'000'000);
  s.flood = args.number("flood", 0, 0, 1'000'000);
  s.flood_steps = args.number("flood_steps", 500);
  return s;
}

}  // namespace bench
