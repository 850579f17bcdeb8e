// A worker's round: after a number of messages the oldest work has its turn, although newer work
// comes first otherwise. Fairness rests on that (W3 of work_stealing.hpp).
//
// A round is at most a quarter of a quantum of messages. Where messages take long it has fewer, so
// that it lasts about a tenth of a second at most, or about 50 µs while runnables arrive in the
// inbox now and then (from other threads, or because their own quantum is small). The first round
// is short, since the duration of messages is not yet known. Rounds are no shorter than needed: it
// is faster to stay with an actor and its data in the caches. Arrivals have their turn in the
// middle of a round, too, but take at most half of the messages there.
//
// The length is computed from the duration of earlier messages. If the present ones turn out to be
// quicker, the round goes on for about half of its time: turns are fair by time, too, and an actor
// with much quicker messages than the others can catch up with messages that arrived meanwhile.
//
// Thread safety: none; each worker has its own.
#pragma once

#include <garrick/sched/policies/quantum.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace garrick::sched {

/// The rest of a worker's round, the queue that begins the next one, and the rule for an arrival to
/// run before older work.
class worker_round {
 public:
  /// The longest time of a round, in nanoseconds.
  static constexpr std::uint64_t most_ns = 100'000'000;
  /// The longest time if something has arrived lately, so that the next arrival need not wait for
  /// longer.
  static constexpr std::uint64_t most_if_arrivals_ns = 50'000;
  /// The time that counts as lately, in nanoseconds.
  static constexpr std::uint64_t lately_ns = 100'000'000;
  /// For this many messages after the worker had nothing else to do, or for a round if that is
  /// less, arrivals wait: the worker is soon done with the work that it has begun.
  static constexpr std::uint32_t patience = 64;
  /// Messages between two looks at the arrivals.
  static constexpr std::uint32_t between_looks = 32;

  /// Returns the most messages of a round: a quarter of a quantum.
  [[nodiscard]] static constexpr std::uint32_t length_for(std::uint32_t quantum) noexcept {
    return quantum == unlimited ? 256 : std::max(1U, quantum / 4);
  }

  /// Returns the number of messages of a first round, if `measure` lets the next rounds grow:
  /// eight, unless `longest` is less or very much more.
  [[nodiscard]] static constexpr std::uint32_t first_of(std::uint32_t longest) noexcept {
    return std::max(std::min(8U, longest), longest / 32);
  }

  /// Begins the first round, with `longest` messages, for a user that does not measure. No later
  /// round has more.
  explicit worker_round(std::uint32_t longest) noexcept : worker_round(longest, longest) {}

  /// Begins the first round, with `first` messages. No later round has more than `longest`.
  worker_round(std::uint32_t longest, std::uint32_t first) noexcept
      : longest_(longest), length_(first), end_(first) {}

  /// Returns true if its messages are used up, so that the next one begins.
  [[nodiscard]] bool is_over() const noexcept { return handled_ >= end_; }

  /// Begins the next round. Returns true if it begins with the oldest runnable of the inbox, false
  /// if with the oldest of the deque. The two take turns.
  [[nodiscard]] bool begin() noexcept {
    settle();
    end_ = handled_ + length_;
    look_after(0);
    inbox_has_turn_ = !inbox_has_turn_;
    return inbox_has_turn_;
  }

  /// Returns the number of messages that the next run may handle: the rest, at least one and at
  /// most a quantum.
  [[nodiscard]] std::uint32_t allowance(std::uint32_t quantum) const noexcept {
    if (quantum == unlimited) return unlimited;
    return is_over() ? 1 : std::min(quantum, static_cast<std::uint32_t>(end_ - handled_));
  }

  /// Counts a run that has handled `messages`, as at least one.
  void use(std::uint32_t messages) noexcept { handled_ += std::max(1U, messages); }

  // --- arrivals ----------------------------------------------------------------------------------

  /// Returns true if the round has ended, or `arrival_may_run` must be asked.
  [[nodiscard]] bool is_due() const noexcept { return handled_ >= due_; }

  /// Returns true if an arrival may run now, in the middle of a round. If there is an arrival, the
  /// caller calls `arrival_runs`.
  [[nodiscard]] bool arrival_may_run() noexcept {
    settle();
    const bool may = handled_ >= next_arrival_;
    look_after(may ? between_looks : 0);
    return may;
  }

  /// Notes that the next run is that of an arrival.
  void arrival_runs() noexcept {
    arrival_runs_ = true;
    has_arrived_ = true;
    arrival_began_ = handled_;
    due_ = handled_ + 1;
  }

  /// Notes that the worker has only arrivals.
  void has_nothing_else() noexcept {
    arrival_runs_ = false;
    next_arrival_ = handled_ + std::min(patience, length_);
    look_after(0);
  }

  // --- the time ----------------------------------------------------------------------------------

  /// Called before a round begins. Returns true if `goes_on` needs the time. A round is measured if
  /// something has arrived lately or if rounds are short; other rounds are measured now and then.
  [[nodiscard]] bool wants_time() noexcept {
    const bool each = length_ < longest_ || has_arrived_ || arrivals_come_;
    if (!each && ++unmeasured_ < rounds_per_measure) return false;
    unmeasured_ = 0;
    return true;
  }

  /// Adapts the next rounds' length to the duration of messages since the call before. A round
  /// becomes as short as it must, and at most twice as long as before.
  void measure(std::uint64_t now_ns) noexcept {
    if (std::exchange(has_arrived_, false)) arrivals_until_ns_ = now_ns + lately_ns;
    arrivals_come_ = now_ns < arrivals_until_ns_;
    if (measured_at_ns_ != 0 && handled_ != measured_) {
      const std::uint64_t took = std::max<std::uint64_t>(now_ns - measured_at_ns_, 1);
      const std::uint64_t fitting = (handled_ - measured_) * shall_last_ns() / took;
      const std::uint64_t most = std::min<std::uint64_t>(longest_, std::uint64_t{length_} * 2);
      length_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, most));
    }
    measured_at_ns_ = now_ns;
    measured_ = handled_;
  }

  /// Called when the round's messages are used up. Returns true if the round goes on with the same
  /// number again, since less than half of its time has passed and a round may have that many;
  /// false if the round has ended, and is measured.
  [[nodiscard]] bool goes_on(std::uint64_t now_ns) noexcept {
    const bool may = measured_at_ns_ != 0 && handled_ - measured_ + length_ <= longest_;
    if (!may || now_ns - measured_at_ns_ >= shall_last_ns() / 2) {
      measure(now_ns);
      return false;
    }
    settle();
    end_ = handled_ + length_;
    look_after(0);
    return true;
  }

  /// Leaves the worker's sleep from `begin_ns` to `end_ns` out of the measurement. Measures the
  /// messages before, since a worker that sleeps often may begin no round for long.
  void slept(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
    measure(begin_ns);
    measured_at_ns_ = end_ns;
  }

 private:
  static constexpr std::uint32_t rounds_per_measure = 4;  ///< of full length, without arrivals

  [[nodiscard]] std::uint64_t shall_last_ns() const noexcept {
    return arrivals_come_ || has_arrived_ ? most_if_arrivals_ns : most_ns;
  }

  /// Called after the run of an arrival: the next arrival waits until others have handled as many
  /// messages.
  void settle() noexcept {
    if (!arrival_runs_) return;
    arrival_runs_ = false;
    next_arrival_ = handled_ + (handled_ - arrival_began_);
  }

  /// Sets the next look: after this many messages, or when an arrival may run, but no later than
  /// the end of the round.
  void look_after(std::uint32_t messages) noexcept {
    due_ = std::min(end_, std::max(handled_ + messages, next_arrival_));
  }

  std::uint32_t longest_;
  std::uint32_t length_;
  // counts of messages, from the beginning
  std::uint64_t handled_ = 0;
  std::uint64_t end_;
  std::uint64_t due_ = 0;
  std::uint64_t next_arrival_ = 0;
  std::uint64_t arrival_began_ = 0;
  std::uint64_t measured_ = 0;
  std::uint64_t measured_at_ns_ = 0;  // 0: never
  std::uint64_t arrivals_until_ns_ = 0;
  std::uint32_t unmeasured_ = 0;  // rounds
  bool inbox_has_turn_ = true;
  bool arrival_runs_ = false;
  bool has_arrived_ = false;    // since the last `measure`
  bool arrivals_come_ = false;  // at the last `measure`
};

}  // namespace garrick::sched
