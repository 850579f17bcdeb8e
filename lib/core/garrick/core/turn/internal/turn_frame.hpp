// A turn of one actor inside another's turn on the same thread, or between two turns: a send of a
// handler runs its receiver in place; an actor takes its first turn inside its spawn, or its last
// one where its last handle was dropped.
//
// Thread safety: the thread that made it, which has the actor's run right.
#pragma once

#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/overload/internal/credit.hpp>

#include <cstdint>
#include <utility>

namespace garrick::core {

/// While it lives, this thread takes a turn of an actor, whose cell may be freed meanwhile.
/// Afterwards the thread is back in the turn of the outer actor.
class turn_frame {
 public:
  /// The reason to take the turn here.
  enum class kind : std::uint8_t {
    in_place,  ///< in a send; the watchdog shows the sender, and each owes its own credit
    borrowed,  ///< the first or last turn; the handler around it owes its credit
  };

  turn_frame(cell& c, kind k) noexcept
      : kind_(k),
        running_(detail::here.running),
        outer_{detail::running_id(), detail::here.below, detail::here.running} {
    auto& here = detail::here;
    auto& thread = base::this_thread;
    actor_ = thread.actor;
    // order: own thread's values, which the watchdog reads as samples
    type_ = thread.handling.load(std::memory_order_relaxed);
    response_ = thread.in_response.load(std::memory_order_relaxed);
    if (k == kind::in_place) enter_send();
    here.below = &outer_;
    here.running = &c;
    ++here.run_depth;
    thread.actor = &c;
    // order: the watchdog reads them as samples
    thread.actor_id.store(c.id(), std::memory_order_relaxed);
    thread.in_response.store(false, std::memory_order_relaxed);
    if (k == kind::borrowed) thread.handling.store(nullptr, std::memory_order_relaxed);
  }
  ~turn_frame() {
    auto& here = detail::here;
    auto& thread = base::this_thread;
    --here.run_depth;
    if (kind_ == kind::in_place) leave_send();
    here.running = running_;
    here.below = outer_.outer;
    thread.actor = actor_;
    // order: the watchdog reads them as samples
    thread.actor_id.store(outer_.id, std::memory_order_relaxed);
    thread.handling.store(type_, std::memory_order_relaxed);
    thread.in_response.store(response_, std::memory_order_relaxed);
  }
  turn_frame(const turn_frame&) = delete;
  turn_frame& operator=(const turn_frame&) = delete;

 private:
  void enter_send() noexcept {
    auto& here = detail::here;
    auto& thread = base::this_thread;
    owes_to_ = std::exchange(here.owes_to, nullptr);
    owed_ = std::exchange(here.owed, std::uint8_t{0});
    // order: own thread's value; the watchdog reads all of these as samples
    const std::uint32_t depth = thread.in_place_depth.load(std::memory_order_relaxed);
    if (depth < thread.in_place_senders.size()) {
      base::in_place_sender& sender = thread.in_place_senders[depth];
      // order: relaxed, all: samples
      sender.actor.store(outer_.id, std::memory_order_relaxed);
      sender.handling.store(type_, std::memory_order_relaxed);
      sender.in_response.store(response_, std::memory_order_relaxed);
    }
    // order: as above
    thread.in_place_depth.store(depth + 1, std::memory_order_relaxed);
  }
  void leave_send() noexcept {
    auto& depth = base::this_thread.in_place_depth;
    // order: own thread's value, which the watchdog reads as a sample
    depth.store(depth.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    credit::forget_debt();
    detail::here.owes_to = owes_to_;
    detail::here.owed = owed_;
  }

  const kind kind_;
  bool response_;
  std::uint8_t owed_ = 0;
  void* actor_;
  cell* running_;
  detail::stacked_actor outer_;
  const base::message_type* type_;
  cell* owes_to_ = nullptr;
};

}  // namespace garrick::core
