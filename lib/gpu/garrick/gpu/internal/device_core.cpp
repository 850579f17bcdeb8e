#include "garrick/gpu/internal/device_core.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "garrick/gpu/internal/left_behind.hpp"

namespace garrick::gpu::internal {

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint32_t queues_without_order = 4;

std::uint64_t budget_of(const device_info& info, const gpu_settings& s) noexcept {
  if (s.memory != 0) return s.memory * mebibyte;
  return info.memory / 4 * 3;
}

}  // namespace

device_core::device_core(cl_device_id id, device_info info, const gpu_settings& s)
    : id_(id), info_(std::move(info)), settings_(s), budget_(budget_of(info_, s)) {
  with_driver_.reserve(settings_.in_flight);
  cl_int code = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
  if (code != CL_SUCCESS)
    throw std::runtime_error(driver_error(info_.name, "clCreateContext", code).to_string());
  const bool can = (info_.can & capability::out_of_order) != capability::none;
  out_of_order_ = settings_.queues == 0 && can;
  const std::uint32_t n = settings_.queues != 0 ? settings_.queues : can ? 1 : queues_without_order;
  cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE;
  if (out_of_order_) properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  for (std::uint32_t i = 0; i < n; ++i) {
    const cl_command_queue q = clCreateCommandQueue(context_, id_, properties, &code);
    if (code != CL_SUCCESS) {
      for (const cl_command_queue made : queues_) clReleaseCommandQueue(made);
      clReleaseContext(context_);
      throw std::runtime_error(driver_error(info_.name, "clCreateCommandQueue", code).to_string());
    }
    queues_.push_back(q);
  }
}

device_core::~device_core() {
  for (const cl_command_queue q : queues_) clReleaseCommandQueue(q);
  clReleaseContext(context_);
}

void device_core::start(std::shared_ptr<builder> compiler) {
  compiler_ = std::move(compiler);
  thread_ = std::thread([me = shared_from_this()] { me->run(); });
}

// ---- any thread ---------------------------------------------------------------------------------

void device_core::post(call_ptr c) {
  c->on = shared_from_this();
  gpu_errc why{};
  {
    const std::lock_guard lock(mutex_);
    if (closing_)
      why = gpu_errc::closed;
    else if (is_lost())
      why = gpu_errc::device_lost;
    else if (waiting_.size() >= settings_.waiting)
      why = gpu_errc::overload;
    else
      waiting_.push(std::move(c));
  }
  if (c == nullptr) return work_.notify_one();
  c->settle(make_error(why, c->where(*this)));
}

void device_core::discard(detail::disposable& d) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_ended_) {
      d.next_disposed = garbage_;
      garbage_ = &d;
      work_.notify_one();
      return;
    }
  }
  d.dispose();
}

void device_core::lose() noexcept {
  lost_.store(true, std::memory_order_relaxed);  // order: relaxed: the lock below orders it
  const std::lock_guard lock(mutex_);
  has_lost_ = true;
  work_.notify_one();
}

void device_core::look_again() noexcept {
  const std::lock_guard lock(mutex_);
  work_.notify_one();
}

void device_core::fail_waiting(gpu_errc why) noexcept {
  call_list all;
  {
    const std::lock_guard lock(mutex_);
    std::swap(all, waiting_);
  }
  while (!all.empty()) {
    const call_ptr c = all.pop();
    c->settle(make_error(why, c->where(*this)));
  }
}

void device_core::fail_all_with_driver(gpu_errc why) noexcept {
  // One call at a time, since a copy of the list would need memory. From the end, since the last
  // call takes the place of a call that is taken back during the loop: so no call is skipped.
  for (std::size_t i = settings_.in_flight;;) {
    call_ptr c;
    {
      const std::lock_guard lock(mutex_);
      i = std::min(i, with_driver_.size());
      if (i == 0) return;
      c = with_driver_[--i];
    }
    c->settle(make_error(why, c->where(*this)));
  }
}

// ---- the budget ---------------------------------------------------------------------------------

void device_core::charge(std::size_t bytes) noexcept {
  charged_.fetch_add(bytes, std::memory_order_relaxed);  // order: relaxed: one thread's (D2)
}
void device_core::refund(std::size_t bytes) noexcept {
  charged_.fetch_sub(bytes, std::memory_order_relaxed);  // order: relaxed: one thread's (D2)
}

void device_core::unmap(cl_mem memory, void* address) noexcept {
  if (clEnqueueUnmapMemObject(queues_.front(), memory, address, 0, nullptr, nullptr) == CL_SUCCESS)
    clFlush(queues_.front());
}

// ---- the runtime's end --------------------------------------------------------------------------

void device_core::begin_close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    work_.notify_one();
  }
  fail_waiting(gpu_errc::closed);
}

void device_core::end_close(std::chrono::steady_clock::time_point until) noexcept {
  constexpr std::chrono::milliseconds grace(200);
  const auto has_ended = [this] { return thread_ended_; };
  std::unique_lock lock(mutex_);
  bool ended = ended_.wait_until(lock, until, has_ended);
  if (!ended) {
    lock.unlock();
    fail_all_with_driver(gpu_errc::closed);
    lock.lock();
    closed_ = true;
    work_.notify_one();
    ended = ended_.wait_for(lock, grace, has_ended);
  }
  const bool leaves_calls = !with_driver_.empty() || !stale_.empty() || settling_ != 0;
  lock.unlock();
  if (ended) {
    thread_.join();
    clean_rest();
  } else {
    thread_.detach();
  }
  if (!ended || leaves_calls) leave_behind(shared_from_this());
}

}  // namespace garrick::gpu::internal
