// A turn of one actor on a thread that takes it in the middle of another's, or between two: its
// first one inside its spawn, its last one where its last handle was dropped.
//
// Thread safety: the thread that made it, which has the actor's run right.
#pragma once

#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/thread_context.hpp>

#include <cstdint>

namespace garrick::core {

/// While it lives, this thread takes a turn of `c`, which may go meanwhile.
class borrowed_turn {
 public:
  explicit borrowed_turn(cell& c) noexcept
      : actor_(base::this_thread.actor),
        running_(detail::here.running),
        outer_{detail::running_id(), detail::here.below, detail::here.running} {
    auto& here = detail::here;
    auto& thread = base::this_thread;
    // order: own thread's values, which the watchdog reads as samples
    type_ = thread.handling.load(std::memory_order_relaxed);
    response_ = thread.in_response.load(std::memory_order_relaxed);
    here.below = &outer_;
    here.running = &c;
    ++here.run_depth;
    thread.actor = &c;
    show(c.id(), nullptr, false);
  }
  ~borrowed_turn() {
    auto& here = detail::here;
    --here.run_depth;
    here.running = running_;
    here.below = outer_.outer;
    base::this_thread.actor = actor_;
    show(outer_.id, type_, response_);
  }
  borrowed_turn(const borrowed_turn&) = delete;
  borrowed_turn& operator=(const borrowed_turn&) = delete;

 private:
  static void show(std::uint64_t id, const base::message_type* type, bool response) noexcept {
    auto& thread = base::this_thread;
    // order: the watchdog reads them as samples
    thread.actor_id.store(id, std::memory_order_relaxed);
    thread.handling.store(type, std::memory_order_relaxed);
    thread.in_response.store(response, std::memory_order_relaxed);
  }

  void* actor_;
  cell* running_;
  detail::stacked_actor outer_;
  const base::message_type* type_;
  bool response_;
};

}  // namespace garrick::core
