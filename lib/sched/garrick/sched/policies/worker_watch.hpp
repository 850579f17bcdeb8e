// The helper thread of a policy whose workers may be busy while others sleep: it looks at all
// workers now and then. It exposes items that do not move in a next slot, calls another worker for
// one that is behind (slot_looks.hpp), and limits the workers that are awake (worker_limit.hpp).
// The times and costs of its looks are in slot_ticker.hpp.
//
// Thread safety: `run` is for the helper thread, the rest for any thread.
#pragma once

#include <garrick/sched/parking/slot_looks.hpp>
#include <garrick/sched/parking/slot_ticker.hpp>
#include <garrick/sched/parking/worker_limit.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace garrick::sched {

/// The work of a policy's helper thread. Its ticker is armed by workers and outside threads.
template <class Traits>
class worker_watch : public slot_ticker<typename Traits::atomics, typename Traits::parker> {
  using atomics = typename Traits::atomics;
  using ticker = slot_ticker<atomics, typename Traits::parker>;

 public:
  /// For this number of workers.
  explicit worker_watch(std::uint32_t workers) : most_awake_(workers), crowd_(workers) {}

  /// Returns the number of workers that may be awake. A hint.
  [[nodiscard]] std::uint32_t most_awake() const noexcept {
    return most_awake_.load(std::memory_order_relaxed);  // order: relaxed; a hint
  }

  /// Returns the number of runnables that it took out of a slot. A statistic.
  [[nodiscard]] std::uint64_t exposed() const noexcept { return exposed_.get(); }
  /// Returns the number of looks that it made. A statistic.
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_.get(); }

  /// Returns true if the slot of some worker holds something.
  template <class Workers>
  [[nodiscard]] static bool some_slot_occupied(const Workers& workers) noexcept {
    return std::ranges::any_of(workers,
                               [](const auto& w) { return w->front.slot.look().item != nullptr; });
  }

  /// Returns its state in words, for a diagnosis.
  [[nodiscard]] std::string describe() const {
    return (this->armed() ? "ticker armed" : "ticker asleep") + std::string(", at most ") +
           std::to_string(most_awake()) + " awake";
  }

  /// Looks at the workers until `stopping`. A runnable that does not move in a slot goes to
  /// `enqueue(worker, runnable)`.
  template <class Workers, class Sleepers, class Stopping, class Enqueue>
  void run(const Workers& workers, Sleepers& sleepers, const Stopping& stopping,
           const Enqueue& enqueue) noexcept {
    std::vector<worker_front<Traits>*> fronts;
    for (auto& w : workers) fronts.push_back(&w->front);
    slot_looks<Traits> slots(std::move(fronts));
    backlog_looks<atomics> backlogs(workers.size());
    const auto expose = [&](std::uint32_t owner, base::runnable& r) {
      exposed_.add();
      enqueue(owner, r);
    };
    tick_budget budget;
    while (!stopping.load(std::memory_order_acquire)) {  // order: acquire, pairs with request_stop
      this->sleep_until_armed();
      budget.armed(Traits::clock::now_ns());
      bool unused = true;
      while (!stopping.load(std::memory_order_relaxed)) {  // order: relaxed; looked at again above
        const bool open = backlogs.call(workers, sleepers);
        const bool used = slots.look(budget, sleepers, expose) || open;
        unused = unused && !used;
        ticks_.add();
        const std::uint64_t now = Traits::clock::now_ns();
        // order: relaxed; a hint
        most_awake_.store(crowd_.look(workers, sleepers, now), std::memory_order_relaxed);
        const auto seen = sleepers.peek();
        if (budget.may_rest(now, used && Sleepers::any_parked(seen), sleepers.all_parked(seen)) &&
            !found_reason_after_disarming(workers, sleepers, unused))
          break;
        Traits::clock::sleep_ns(budget.after_look(now, Traits::clock::thread_cpu_ns()));
      }
    }
  }

 private:
  /// Disarms the ticker and looks once more (K2). Returns true if the ticker goes on.
  template <class Workers, class Sleepers>
  [[nodiscard]] bool found_reason_after_disarming(const Workers& workers, const Sleepers& sleepers,
                                                  bool unused) noexcept {
    this->disarm(unused);
    const auto open = [](const auto& w) { return w->has_open_work(); };
    if (!Sleepers::any_parked(sleepers.peek()) ||
        !(some_slot_occupied(workers) || std::ranges::any_of(workers, open)))
      return false;
    this->stay_awake();
    return true;
  }

  // written by the helper
  alignas(64) typename atomics::template atomic<std::uint32_t> most_awake_;
  own_counter<atomics> exposed_;
  own_counter<atomics> ticks_;
  crowd_looks crowd_;
};

}  // namespace garrick::sched
