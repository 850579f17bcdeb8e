// The ticker's work while it is awake (slot_ticker.hpp). `slot_looks` looks at the next slots of
// all workers, and takes out items that do not move although a parked worker could run them.
// `backlog_looks` finds workers with open work that waits, and wakes other workers for it.
//
// Thread safety: `worker_front::sit` is for the worker, the rest of `worker_front` for any thread;
// `slot_looks` and `backlog_looks` are for the helper thread alone.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/parking/slot_ticker.hpp>
#include <garrick/sched/queues/next_slot.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace garrick::sched {

/// The part of a worker that others see: its next slot, and the processor of its thread.
template <class Traits>
class worker_front {
  using thread = typename Traits::place::thread;

 public:
  /// For the worker: lets other threads ask where the calling thread runs.
  void sit() noexcept {
    if (placed_.load(std::memory_order_relaxed)) [[likely]]  // order: relaxed; own value
      return;
    place_ = Traits::place::of_this_thread();
    placed_.store(true, std::memory_order_release);  // order: release, pairs with processor
  }

  /// Returns the processor of the worker's thread; unknown if the worker has not called `sit`, or
  /// if the system does not say.
  [[nodiscard]] std::int32_t processor() const noexcept {
    // order: acquire, pairs with sit: the place
    return placed_.load(std::memory_order_acquire) ? place_.processor() : thread::unknown;
  }

  /// Returns how long the worker's thread has run and waited for a processor; nullopt if the worker
  /// has not called `sit`, or if the system does not say.
  [[nodiscard]] std::optional<base::platform::processor_times> times() const noexcept {
    // order: acquire, pairs with sit: the place
    if (!placed_.load(std::memory_order_acquire)) return {};
    return place_.times();
  }

  next_slot<typename Traits::atomics> slot;  ///< used by its owner, and rarely by a helper

 private:
  thread place_;
  typename Traits::atomics::template atomic<bool> placed_{false};
};

/// The looks of the helper thread at the slots of all workers.
template <class Traits>
class slot_looks {
  using runnable = base::runnable;
  using thread = typename Traits::place::thread;
  using front = worker_front<Traits>;
  using picture = typename next_slot<typename Traits::atomics>::picture;

 public:
  /// For looks at these workers by the calling thread.
  explicit slot_looks(std::vector<front*> fronts)
      : fronts_(std::move(fronts)), seen_(fronts_.size()), me_(Traits::place::of_this_thread()) {}

  /// Takes one look. Hands items that do not move to `expose(worker, runnable)`, which gets the run
  /// right, if a parked worker could take them. Returns true if a slot was in use.
  template <class Sleepers, class Expose>
  bool look(tick_budget& budget, const Sleepers& sleepers, const Expose& expose) noexcept {
    bool used = false;
    bool occupied = false;
    bool in_the_way = false;
    for (std::size_t i = 0; i < fronts_.size(); ++i) {
      const picture now = fronts_[i]->slot.look();
      used = used || now.item != nullptr || now.puts != seen_[i].slot.puts;
      occupied = occupied || now.item != nullptr;
      seen_[i].unmoved = now.item != nullptr && now == seen_[i].slot;
      seen_[i].slot = now;
      in_the_way = in_the_way || (now.item != nullptr && shares_processor(i));
    }
    if (!occupied || !Sleepers::any_parked(sleepers.peek())) return used;
    if (in_the_way && !step_aside(sleepers)) {
      // K4: as long as this thread runs, the worker cannot run. So an item counts as stuck if it
      // has not moved while this thread slept.
      expose_stuck(budget, expose, [&](std::size_t i) { return seen_[i].unmoved; });
      return used;
    }
    const auto stuck = [&](std::size_t i) { return is_stuck(i); };
    const std::uint64_t end = Traits::clock::now_ns() + tick_budget::patience_ns;
    while (some(stuck)) {
      if (Traits::clock::now_ns() >= end) {
        expose_stuck(budget, expose, stuck);
        break;
      }
      Traits::atomics::pause();
    }
    return used;
  }

 private:
  /// The last look at a slot.
  struct sample {
    picture slot;
    bool unmoved = false;  ///< the slot is as at the look before
  };

  [[nodiscard]] bool shares_processor(std::size_t i) const noexcept {
    const std::int32_t its = fronts_[i]->processor();
    return its != thread::unknown && its == me_.processor();
  }

  /// K4: moves this thread to a processor of no awake worker or, if there is none, of no worker
  /// with an item in its slot. Returns false if there is no such processor either.
  template <class Sleepers>
  bool step_aside(const Sleepers& sleepers) noexcept {
    std::vector<std::int32_t> busy;
    std::vector<std::int32_t> watched;
    for (std::size_t i = 0; i < fronts_.size(); ++i) {
      const std::int32_t its = fronts_[i]->processor();
      if (its == thread::unknown) continue;
      if (!sleepers.looks_parked(static_cast<std::uint32_t>(i))) busy.push_back(its);
      if (seen_[i].slot.item != nullptr) watched.push_back(its);
    }
    return Traits::place::leave(busy) || Traits::place::leave(watched);
  }

  [[nodiscard]] bool is_stuck(std::size_t i) const noexcept {
    return seen_[i].slot.item != nullptr && fronts_[i]->slot.look() == seen_[i].slot;
  }

  template <class Stuck>
  [[nodiscard]] bool some(const Stuck& stuck) const noexcept {
    for (std::size_t i = 0; i < fronts_.size(); ++i)
      if (stuck(i)) return true;
    return false;
  }

  template <class Expose, class Stuck>
  void expose_stuck(tick_budget& budget, const Expose& expose, const Stuck& stuck) noexcept {
    for (std::size_t i = 0; i < fronts_.size(); ++i) {
      if (!stuck(i) || !is_stuck(i)) continue;
      const auto give = [&](runnable& r) { expose(static_cast<std::uint32_t>(i), r); };
      if (fronts_[i]->slot.steal(give)) budget.refill();
    }
  }

  std::vector<front*> fronts_;
  std::vector<sample> seen_;
  thread me_;
};

/// The looks of the helper thread at open work: finds workers whose open work has waited for longer
/// than it takes to wake another worker.
template <class Atomics>
class backlog_looks {
 public:
  /// For looks at this number of workers.
  explicit backlog_looks(std::size_t workers) : seen_(workers) {}

  /// Returns true if this worker has had open work since the look before. `open()` returns true if
  /// it has some now; `emptied` counts how often it has emptied its slot and its deque so far.
  template <class Open>
  [[nodiscard]] bool is_behind(std::size_t worker, const Open& open,
                               std::uint64_t emptied) noexcept {
    const sample before = std::exchange(seen_[worker], {emptied, open()});
    if (!seen_[worker].open || !before.open || before.emptied != emptied) return false;
    // A runnable that is alone on its worker is open work, too, for a moment after each of its
    // runs.
    for (int i = 0; i < looks_at_once; ++i) {
      Atomics::pause();
      if (!open()) return false;
    }
    return true;
  }

  /// Looks at all of a policy's workers, and wakes another worker for each that is behind. Returns
  /// true if a worker has open work.
  template <class Workers, class Sleepers>
  bool call(const Workers& workers, Sleepers& sleepers) noexcept {
    for (const auto& w : workers) {
      const auto open = [&w] { return w->has_open_work(); };
      if (is_behind(w->own_index, open, w->emptied.get())) sleepers.wake_another();
    }
    return some_open();
  }

  /// Returns true if a worker had open work at the last look.
  [[nodiscard]] bool some_open() const noexcept {
    return std::ranges::any_of(seen_, &sample::open);
  }

 private:
  static constexpr int looks_at_once = 8;

  struct sample {
    std::uint64_t emptied = 0;
    bool open = false;
  };
  std::vector<sample> seen_;
};

}  // namespace garrick::sched
