// A device, its budget, and the thread that submits to it.
//
// Problem: a call of the driver may take any time, and a worker must not be blocked by it. So calls
// are queued here, and one thread makes all calls of the driver.
//
// Invariants (with G1 to G7 of docs/decisions/0012-gpu.md)
// D1 A call is in at most one of `waiting`, `with_driver`, `stale` and `returned`. It enters
//    `with_driver` before its first command exists, and `returned` when its last one has reported.
// D2 `charged` grows and shrinks only on the submitting thread, or after that thread has ended.
// D3 When `closed` is set, no call enters `waiting`, and the thread has ended or is ending, unless
//    it was left behind.
// D4 Code under the lock only reads and writes pointers and numbers. It does not call the driver,
//    fulfil promises or allocate: `with_driver` and `stale` have reserved their memory.
// D5 A callback never has the last reference to its device, since the device's end calls the
//    driver. For this the thread does not end while the driver has a call or a callback settles one
//    (`settling`); otherwise the device is left behind, as it is if stale calls remain. So a
//    callback may use the device through its call, and last of all releases the device's lock.
// D6 The thread polls calls that failed or were abandoned, since drivers leave out the callbacks of
//    commands that depend on a failed command. When a call's events report that all its commands
//    have ended, the call gives up its place and its buffers. It moves to `stale`, since a callback
//    may still follow.
//
// Thread safety: the sections below name the threads.
#pragma once

#include <garrick/gpu/detail/built.hpp>
#include <garrick/gpu/detail/call.hpp>
#include <garrick/gpu/device.hpp>
#include <garrick/gpu/figures.hpp>
#include <garrick/gpu/settings.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "garrick/gpu/internal/opencl.hpp"

namespace garrick::gpu::internal {

class builder;

using call_ptr = std::shared_ptr<detail::call>;

/// A list of calls that needs no memory of its own.
class call_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push(call_ptr c) noexcept {
    detail::call* const raw = c.get();
    (last_ != nullptr ? last_->next : first_) = std::move(c);
    last_ = raw;
    ++size_;
  }
  [[nodiscard]] const call_ptr& front() const noexcept { return first_; }
  call_ptr pop() noexcept {
    call_ptr c = std::move(first_);
    first_ = std::move(c->next);
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return c;
  }

 private:
  call_ptr first_;
  detail::call* last_ = nullptr;
  std::size_t size_ = 0;
};

/// A device of a runtime.
class device_core : public std::enable_shared_from_this<device_core> {
 public:
  /// Makes the context and the queues. Called by the thread that makes the runtime. Throws
  /// std::runtime_error with the driver's error.
  device_core(cl_device_id id, device_info info, const gpu_settings& s);
  /// Releases the driver's objects. May run on any thread.
  ~device_core();
  device_core(const device_core&) = delete;
  device_core& operator=(const device_core&) = delete;

  /// Starts the thread, which lives as long as the runtime. Throws std::system_error.
  void start(std::shared_ptr<builder> compiler);

  // any thread

  [[nodiscard]] const device_info& info() const noexcept { return info_; }
  [[nodiscard]] const gpu_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] cl_device_id id() const noexcept { return id_; }
  [[nodiscard]] cl_context context() const noexcept { return context_; }
  [[nodiscard]] const std::shared_ptr<builder>& compiler() const noexcept { return compiler_; }
  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }
  [[nodiscard]] std::uint64_t charged() const noexcept {
    return charged_.load(std::memory_order_relaxed);  // order: relaxed: a figure
  }
  [[nodiscard]] bool is_lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);  // order: relaxed: a hint; locks order the rest
  }
  /// Queues the call, which must have its completion. The call is always settled.
  void post(call_ptr c);
  /// Destroys `d` on the submitting thread, or at once if that thread has ended.
  void discard(detail::disposable& d) noexcept;
  /// Marks the device as lost: all calls fail from now on. Callbacks call it, too.
  void lose() noexcept;
  /// Makes the thread check the waiting calls after one was abandoned, since that call may delay
  /// the calls behind it.
  void look_again() noexcept;

  // the runtime's end

  /// Fails the waiting calls, and lets the thread end after the driver has given all calls back.
  void begin_close() noexcept;
  /// Waits for the thread's end until `until`. Then fails the calls that the driver still has, and
  /// leaves the thread behind if it does not end.
  void end_close(std::chrono::steady_clock::time_point until) noexcept;

  // the submitting thread

  /// Reserves bytes of the budget; the caller has checked that they fit.
  void charge(std::size_t bytes) noexcept;
  void refund(std::size_t bytes) noexcept;
  /// Ends the mapping of pinned memory. A failure is ignored.
  void unmap(cl_mem memory, void* address) noexcept;

 private:
  friend class submission;
  static void CL_CALLBACK on_event(cl_event, cl_int status, void* of_command) noexcept;

  void run() noexcept;
  /// The work that the thread has found.
  struct work {
    call_list returned;
    detail::disposable* garbage = nullptr;
    call_ptr next;  ///< it is still in `waiting_`
    bool end = false;
  };
  [[nodiscard]] work wait_for_work();
  [[nodiscard]] bool has_work() const noexcept;
  /// Returns true if the first waiting call can be submitted or dropped.
  [[nodiscard]] bool can_consider() const noexcept;
  [[nodiscard]] bool may_end() const noexcept;
  /// Returns the first call with the driver, from place `at` on, that failed or was abandoned.
  [[nodiscard]] call_ptr doomed_from(std::size_t& at) const noexcept;
  void retire_doomed() noexcept;
  [[nodiscard]] static bool is_over(const detail::call& c) noexcept;
  [[nodiscard]] bool make_stale(const call_ptr& c) noexcept;
  void clean(work& w) noexcept;
  void dispose_all(detail::disposable* garbage) noexcept;
  void note_profile(const detail::command& c) noexcept;
  void consider(const call_ptr& c) noexcept;
  /// Takes `c` out of the waiting calls. Returns false if it is no longer the first of them.
  [[nodiscard]] bool stops_waiting(const call_ptr& c, bool goes_to_driver) noexcept;
  /// Called when a command has reported, and once when the submission has ended. The last of these
  /// calls settles `c`.
  static void reported(detail::call& c) noexcept;
  /// Moves the call from `with_driver_` or `stale_` to `returned_`. `settling_` counts the caller
  /// from now on.
  [[nodiscard]] call_ptr take_back(detail::call& c) noexcept;
  void fail_waiting(gpu_errc why) noexcept;
  void fail_all_with_driver(gpu_errc why) noexcept;
  /// Cleans up after the calls that came back when the thread had already ended.
  void clean_rest() noexcept;

  // constant
  const cl_device_id id_;
  const device_info info_;
  const gpu_settings settings_;
  std::uint64_t budget_ = 0;
  std::shared_ptr<builder> compiler_;
  cl_context context_ = nullptr;
  std::vector<cl_command_queue> queues_;
  bool out_of_order_ = false;

  // the submitting thread's
  std::size_t next_queue_ = 0;
  std::size_t transient_ = 0;  ///< bytes of `charged_` that calls with the driver will give back
  device_figures figures_;
  bool needs_memory_ = false;  ///< the first waiting call does not fit until calls come back

  std::atomic<std::uint64_t> charged_{0};
  std::atomic<bool> lost_{false};

  mutable std::mutex mutex_;
  std::condition_variable work_;   ///< for the submitting thread
  std::condition_variable ended_;  ///< for the runtime's end
  // under the lock
  call_list waiting_;
  std::vector<call_ptr> with_driver_;
  std::vector<call_ptr> stale_;
  call_list returned_;
  detail::disposable* garbage_ = nullptr;
  std::size_t settling_ = 0;  ///< threads that settle a call which they have taken back
  bool has_lost_ = false;     ///< the thread must fail all calls
  bool closing_ = false;
  bool closed_ = false;
  bool thread_ended_ = false;
  std::thread thread_;
};

/// Returns the device behind a handle.
[[nodiscard]] inline device_core& core_of(const device& d) noexcept { return *d.core(); }

}  // namespace garrick::gpu::internal
