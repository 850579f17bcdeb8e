// The submitting thread of a device, and the callbacks that end its calls.
#include <garrick/base/platform/assert.hpp>
#include <garrick/base/platform/platform.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "garrick/gpu/internal/device_core.hpp"
#include "garrick/gpu/internal/submission.hpp"

namespace garrick::gpu::internal {

namespace {
constexpr std::chrono::milliseconds look_at_doomed_every(50);
}

// ---- callbacks ----------------------------------------------------------------------------------

// noexcept: an exception must not reach the driver, which is written in C.
void CL_CALLBACK device_core::on_event(cl_event /*unused*/, cl_int status,
                                       void* of_command) noexcept {
  detail::call& c = *static_cast<detail::command*>(of_command)->of;
  if (status < 0) {
    if (means_lost(status)) c.on->lose();
    c.settle(driver_error(c.where(*c.on), "a command", status));
    c.on->look_again();
  }
  reported(c);
}

void device_core::reported(detail::call& c) noexcept {
  device_core& me = *c.on;  // D5; after the decrement, only the last thread may still use the call
  // order: acq_rel: pairs with itself: the last one sees the actions of the others (C3 of call.hpp)
  if (c.due.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  call_ptr kept = me.take_back(c);
  kept->settle({});
  kept.reset();  // may be the call's last holder, so it is dropped before the device may end
  const std::lock_guard lock(me.mutex_);
  --me.settling_;
  if (me.closing_) me.work_.notify_one();
}

// Called before the call is settled, so that a requester with an answer finds the call's place
// free, and the call counted in the figures.
call_ptr device_core::take_back(detail::call& c) noexcept {
  const std::lock_guard lock(mutex_);
  ++settling_;
  const auto is_it = [&](const call_ptr& p) { return p.get() == &c; };
  std::vector<call_ptr>* all = &with_driver_;
  auto at = std::ranges::find_if(*all, is_it);
  if (at == all->end()) {
    all = &stale_;
    at = std::ranges::find_if(*all, is_it);
  }
  GARRICK_ASSERT(at != all->end(), "a call that has reported was with no driver (D1)");
  call_ptr found = std::move(*at);
  *at = std::move(all->back());
  all->pop_back();
  returned_.push(found);
  work_.notify_one();
  return found;
}

// ---- the submitting thread ----------------------------------------------------------------------

bool device_core::has_work() const noexcept {
  if (has_lost_ || !returned_.empty() || garbage_ != nullptr) return true;
  if (closing_) return may_end();
  return can_consider() && (!needs_memory_ || waiting_.front()->is_abandoned());
}

bool device_core::can_consider() const noexcept {
  return !waiting_.empty() &&
         (with_driver_.size() < settings_.in_flight || waiting_.front()->is_abandoned());
}

bool device_core::may_end() const noexcept {
  return closing_ && (closed_ || (with_driver_.empty() && settling_ == 0));
}

device_core::work device_core::wait_for_work() {
  work w;
  bool lost = false;
  {
    std::unique_lock lock(mutex_);
    while (!has_work()) {
      std::size_t any = 0;
      if (doomed_from(any) == nullptr)
        work_.wait(lock);
      else if (work_.wait_for(lock, look_at_doomed_every) == std::cv_status::timeout)
        break;
    }
    std::swap(w.returned, returned_);
    w.garbage = std::exchange(garbage_, nullptr);
    lost = std::exchange(has_lost_, false);
    if (may_end() && w.returned.empty() && w.garbage == nullptr) {
      thread_ended_ = true;
      w.end = true;
      ended_.notify_all();
    } else if (!closing_ && can_consider()) {
      w.next = waiting_.front();
    }
  }
  if (lost) {
    fail_waiting(gpu_errc::device_lost);
    fail_all_with_driver(gpu_errc::device_lost);
  }
  return w;
}

void device_core::run() noexcept {
  base::platform::name_this_thread("gpu " + info_.name);
  for (;;) {
    work w = wait_for_work();
    if (w.end) return;
    if (!w.returned.empty() || w.garbage != nullptr) needs_memory_ = false;
    clean(w);
    retire_doomed();
    if (w.next != nullptr) consider(w.next);
  }
}

void device_core::note_profile(const detail::command& c) noexcept {
  cl_ulong begin = 0;
  cl_ulong end = 0;
  const auto event = static_cast<cl_event>(c.event);
  cl_int status = CL_QUEUED;
  if (clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) !=
          CL_SUCCESS ||
      status != CL_COMPLETE) {
    ++figures_.failures;
    return;
  }
  if (c.is_kernel) ++figures_.kernels;
  if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) !=
          CL_SUCCESS ||
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) !=
          CL_SUCCESS ||
      end < begin)
    return;
  const auto took = base::duration::nanoseconds(static_cast<std::int64_t>(end - begin));
  base::duration& sum = c.is_kernel ? figures_.kernel_time : figures_.transfer_time;
  sum = sum + took;
}

void device_core::clean(work& w) noexcept {
  while (!w.returned.empty()) {
    const call_ptr c = w.returned.pop();
    for (const detail::command& command : c->commands) {
      note_profile(command);
      clReleaseEvent(static_cast<cl_event>(command.event));
    }
    c->commands.clear();
    transient_ -= std::exchange(c->transient, 0);
    c->scratch.clear();  // the buffers are added to the garbage
  }
  dispose_all(w.garbage);
  detail::disposable* more = nullptr;
  {
    const std::lock_guard lock(mutex_);
    more = std::exchange(garbage_, nullptr);
  }
  dispose_all(more);
}

void device_core::dispose_all(detail::disposable* garbage) noexcept {
  while (garbage != nullptr) {
    detail::disposable* const next = garbage->next_disposed;
    garbage->dispose();
    garbage = next;
  }
}

// Called by the runtime's end, after the thread has ended.
void device_core::clean_rest() noexcept {
  work w;
  {
    const std::lock_guard lock(mutex_);
    std::swap(w.returned, returned_);
    w.garbage = std::exchange(garbage_, nullptr);
  }
  clean(w);
}

// ---- calls that do not report -------------------------------------------------------------------

call_ptr device_core::doomed_from(std::size_t& at) const noexcept {
  for (; at < with_driver_.size(); ++at) {
    const call_ptr& c = with_driver_[at];
    if (c->is_settled() || c->is_abandoned()) return c;
  }
  return nullptr;
}

void device_core::retire_doomed() noexcept {
  for (std::size_t at = 0;; ++at) {
    call_ptr c;
    {
      const std::lock_guard lock(mutex_);
      c = doomed_from(at);
    }
    if (c == nullptr) return;
    if (!is_over(*c) || !make_stale(c)) continue;
    --at;  // another one is in its place
    transient_ -= std::exchange(c->transient, 0);
    c->scratch.clear();
    // No thread takes the results of a call that failed or was abandoned.
    for (detail::argument& a : c->arguments) a.buffer = a.host_memory = {};
  }
}

// Checks the events in place of a callback. Only this thread releases events, so they are valid.
bool device_core::is_over(const detail::call& c) noexcept {
  return std::ranges::all_of(c.commands, [](const detail::command& command) {
    cl_int status = CL_QUEUED;
    return clGetEventInfo(static_cast<cl_event>(command.event), CL_EVENT_COMMAND_EXECUTION_STATUS,
                          sizeof status, &status, nullptr) == CL_SUCCESS &&
           status <= CL_COMPLETE;
  });
}

bool device_core::make_stale(const call_ptr& c) noexcept {
  std::vector<call_ptr> more;  // allocated without the lock (D4)
  std::size_t room = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stale_.size() == stale_.capacity()) room = 2 * stale_.size() + 8;
  }
  try {
    more.reserve(room);
  } catch (const std::bad_alloc&) { return false; }  // tried again at the next poll
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(with_driver_, c);
  if (at == with_driver_.end()) return false;  // a callback has taken it back
  if (room != 0) {
    std::ranges::move(stale_, std::back_inserter(more));
    std::swap(stale_, more);
  }
  stale_.push_back(c);
  std::swap(*at, with_driver_.back());
  with_driver_.pop_back();
  return true;
}

bool device_core::stops_waiting(const call_ptr& c, bool goes_to_driver) noexcept {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() || waiting_.front() != c) return false;
  static_cast<void>(waiting_.pop());
  if (goes_to_driver) with_driver_.push_back(c);
  return true;
}

void device_core::consider(const call_ptr& c) noexcept {
  needs_memory_ = false;  // it was set for an earlier call
  const auto refuse = [&](error why) {
    if (!stops_waiting(c, false)) return;
    ++figures_.failures;
    c->settle(std::move(why));
  };
  if (c->is_abandoned()) return refuse(make_error(gpu_errc::deadline, c->where(*this)));
  if (is_lost()) return refuse(make_error(gpu_errc::device_lost, c->where(*this)));
  const std::uint64_t need = submission::need_of(*c);
  const std::uint64_t held = charged() - transient_;
  if (need > budget_ || held > budget_ - need) {
    std::string why = std::to_string(need) + " bytes are needed, and " + std::to_string(held) +
                      " of the budget of " + std::to_string(budget_) + " are held (gpu.memory)";
    return refuse(make_error(gpu_errc::out_of_memory, c->where(*this), why));
  }
  if (charged() > budget_ - need) {  // calls under way will make room
    needs_memory_ = true;
    return;
  }
  if (!stops_waiting(c, true)) return;
  c->due.store(1, std::memory_order_relaxed);  // order: relaxed: no command knows it yet
  figures_.memory_used = charged();
  c->looked_at(figures_);
  error why;
  {
    submission s(*this, *c);
    why = s.submit();
  }  // `s` releases its buffers before the call ends, so a ref in the answer is the only one
  transient_ += c->transient;
  if (why) {
    ++figures_.failures;
    c->settle(why);
  }
  reported(*c);
}

}  // namespace garrick::gpu::internal
