// An idle worker's wait for a loop's events, instead of sleeping.
//
// The worker takes the loop's seat (leader_seat.hpp), if it is empty, and waits in the loop. To
// threads that add work the worker is parked, and they wake it like any other worker, but by
// another system call. When an event has come the worker wakes itself, handles the event, and then
// runs the actors that the event has woken. It leaves the seat before it runs any of them. If the
// event has woken no actor, the worker continues to wait.
//
// If two events in a row came without a wait, there are probably more, and the worker wakes another
// one, which finds the seat empty. Otherwise one worker would do the work of all, one event after
// the other.
//
// Thread safety: none; each worker has its own.
//
// Invariants
// D1 A worker that handles an event is awake and not counted as searching, so the handling puts
//    work into its slot and its deque as a handler does (S5 of sleepers.hpp, W2 of
//    work_stealing.hpp).
// D2 The handling of an event does not wait, and no actor runs in place there (`no_wait`), so the
//    loop is free soon.
// D3 The worker leaves the seat on every path out of the wait.
#pragma once

#include <garrick/base/concurrency/leader_seat.hpp>
#include <garrick/base/concurrency/thread_state.hpp>

#include <cstdint>
#include <utility>

namespace garrick::sched {

/// The waits of a worker until it has something to run; destroyed before the worker runs it.
template <class Sleepers, class Seat = base::leader_seat>
class leading {
 public:
  /// For worker `index`. `seat` may be null: then the worker only sleeps.
  leading(Sleepers& all, std::uint32_t index, Seat* seat) noexcept
      : all_(all), index_(index), seat_(seat) {}
  ~leading() {
    if (loop_ == nullptr) return;
    seat_->leave(awake_ns_);
    if (wakes_another_) all_.wake_one(all_.peek());
  }
  leading(const leading&) = delete;
  leading& operator=(const leading&) = delete;

  /// Does the last step of sleeping, at `now_ns`, in place of `sleepers::park`. Returns false if
  /// the worker was woken; it counts as searching, as after `park`. Returns true if an event has
  /// come; `awake()` was called, has ended the search and returned the time, and then the event was
  /// handled.
  template <class Awake>
  bool sleep(std::uint64_t now_ns, Awake awake) noexcept {
    if constexpr (Sleepers::waits_elsewhere) {
      if (loop_ == nullptr && seat_ != nullptr) loop_ = seat_->try_lead(now_ns);
      while (loop_ != nullptr) {
        if (!all_.begin_elsewhere(index_)) return false;
        arrival<Awake> first(*this, awake);
        const bool goes_on = loop_->lead(first);
        if (first.has_come) --base::this_thread.no_wait;
        if (!goes_on) {
          seat_->over();
          loop_ = nullptr;
        }
        if (first.has_come) return true;
        if (all_.end_elsewhere(index_)) return false;
      }
    }
    all_.park(index_);
    return false;
  }

  /// Like `sleep`, and notes the time asleep in the worker's figures and rounds. `end_search()`
  /// ends its search before an event is handled.
  template <class Worker, class EndSearch>
  bool nap(Worker& self, EndSearch end_search) noexcept {
    const std::uint64_t since = self.figures.falls_asleep();
    const auto awakes = [&] {
      const auto nap = self.figures.awakes(since);
      self.round.slept(nap.begin_ns, nap.end_ns);
      return nap.end_ns;
    };
    const bool handled = sleep(since, [&] {
      end_search();
      self.handles_event = true;
      return awakes();
    });
    self.handles_event = false;
    if (!handled)
      awake_ns_ = awakes();
    else if (came_at_once_)
      wakes_another_ = std::exchange(self.had_event_at_once, true);
    else
      wakes_another_ = self.had_event_at_once = false;
    return handled;
  }

 private:
  template <class Awake>
  struct arrival final : base::event_loop::leader {
    arrival(leading& l, Awake& a) noexcept : who(l), awake(a) {}
    void event_has_come(bool at_once) noexcept override {
      who.came_at_once_ = at_once;
      who.all_.come_back(who.index_);
      who.awake_ns_ = awake();
      ++base::this_thread.no_wait;
      has_come = true;
    }
    leading& who;
    Awake& awake;
    bool has_come = false;
  };

  Sleepers& all_;
  const std::uint32_t index_;
  Seat* const seat_;
  std::uint64_t awake_ns_ = 0;  // the time when the worker last awoke
  bool came_at_once_ = false;   // the last event came without a wait
  bool wakes_another_ = false;
  typename Seat::loop_type* loop_ = nullptr;
};

}  // namespace garrick::sched
