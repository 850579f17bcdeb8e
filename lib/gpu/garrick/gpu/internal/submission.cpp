#include "garrick/gpu/internal/submission.hpp"

#include <garrick/gpu/detail/built.hpp>

#include <string>
#include <utility>

#include "garrick/gpu/internal/device_core.hpp"

namespace garrick::gpu::internal {

using detail::argument;
using detail::argument_kind;
using detail::buffer_ptr;

submission::submission(device_core& d, detail::call& c)
    : device_(d), call_(c), queue_(d.queues_[d.next_queue_++ % d.queues_.size()]) {}

std::uint64_t submission::need_of(const detail::call& c) noexcept {
  std::uint64_t sum = 0;
  for (const argument& a : c.arguments) {
    switch (a.kind) {
      case argument_kind::input: sum += a.buffer ? 0 : a.bytes; break;
      case argument_kind::output: sum += a.pinned ? 2 * a.bytes : a.bytes; break;
      case argument_kind::in_out: sum += a.buffer && a.buffer->is_unique() ? 0 : a.bytes; break;
      case argument_kind::pin: sum += a.bytes; break;
      case argument_kind::scalar:
      case argument_kind::local:
      case argument_kind::fetch: break;
    }
  }
  return sum;
}

error submission::submit() {
  try {
    const std::size_t n = call_.arguments.size();
    call_.commands.reserve(2 * n + 1);  // the most there can be; see call::commands
    call_.scratch.reserve(2 * n);
    before_.reserve(n + 1);
    buffers_.resize(n);
  } catch (const std::bad_alloc&) {
    return make_error(gpu_errc::out_of_memory, call_.where(device_), "the host has none left");
  }
  error why = enqueue_all();
  if (call_.commands.empty()) return why;
  // Flushes after an error, too: commands that were enqueued before it must run in order to report.
  const cl_int code = clFlush(queue_);
  if (code != CL_SUCCESS && !why) return failed("clFlush", code);
  return why;
}

error submission::enqueue_all() {
  for (argument& a : call_.arguments)
    if (error why = prepare(a)) return why;
  if (call_.kernel != nullptr)
    if (error why = run_kernel()) return why;
  return read_results();
}

cl_uint submission::waits() const noexcept {
  return device_.out_of_order_ ? static_cast<cl_uint>(before_.size()) : 0;
}
const cl_event* submission::wait_list() const noexcept {
  return waits() == 0 ? nullptr : before_.data();
}

error submission::failed(const char* called, cl_int code) const {
  if (means_lost(code)) device_.lose();
  return driver_error(call_.where(device_), called, code);
}

error submission::enqueued(cl_int code, const char* called, cl_event e, bool is_kernel) {
  if (code != CL_SUCCESS) return failed(called, code);
  call_.commands.push_back({e, &call_, is_kernel});
  // order: relaxed: the callback is registered after it
  call_.due.fetch_add(1, std::memory_order_relaxed);
  code = clSetEventCallback(e, CL_COMPLETE, &device_core::on_event, &call_.commands.back());
  // Without a callback the end of the command is unknown, so the call stays with the driver.
  return code == CL_SUCCESS ? error() : failed("clSetEventCallback", code);
}

error submission::make(std::size_t bytes, cl_mem_flags flags, lifetime how, buffer_ptr& into) {
  device_.charge(bytes);
  cl_int code = CL_SUCCESS;
  const cl_mem memory = clCreateBuffer(device_.context(), flags, bytes, nullptr, &code);
  if (code != CL_SUCCESS) {
    device_.refund(bytes);
    return failed("clCreateBuffer", code);
  }
  auto* const made = new (std::nothrow) detail::buffer(call_.on, memory, bytes);
  if (made == nullptr) {
    clReleaseMemObject(memory);
    device_.refund(bytes);
    return make_error(gpu_errc::out_of_memory, call_.where(device_), "the host has none left");
  }
  into = buffer_ptr(made);
  if (how == lifetime::of_call) {
    call_.scratch.push_back(into);
    call_.transient += bytes;
  }
  return {};
}

error submission::write(argument& a, detail::buffer& to) {
  cl_event e = nullptr;
  const cl_int code = clEnqueueWriteBuffer(queue_, static_cast<cl_mem>(to.memory()), CL_FALSE, 0,
                                           a.bytes, a.host, 0, nullptr, &e);
  error why = enqueued(code, "clEnqueueWriteBuffer", e);
  if (code == CL_SUCCESS) before_.push_back(e);
  return why;
}

/// Allocates memory for an argument that has none on the device, and writes an input to it.
error submission::give_memory(argument& a) {
  const std::size_t at = static_cast<std::size_t>(&a - call_.arguments.data());
  const bool kept = a.stays;
  const bool only_read = !kept && a.kind == argument_kind::input && call_.kernel != nullptr &&
                         call_.kernel->only_reads(at);
  const cl_mem_flags flags = only_read ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
  if (error why = make(a.bytes, flags, kept ? lifetime::kept : lifetime::of_call, buffers_[at]))
    return why;
  if (kept) a.buffer = buffers_[at];
  return a.kind == argument_kind::output ? error() : write(a, *buffers_[at].get());
}

/// Copies the buffer of an argument unless the argument is its only holder: shared memory is not
/// changed (G4).
error submission::copy_if_shared(argument& a) {
  const std::size_t at = static_cast<std::size_t>(&a - call_.arguments.data());
  if (a.buffer->is_unique()) {
    buffers_[at] = a.buffer;
    return {};
  }
  buffer_ptr copy;
  if (error why = make(a.bytes, CL_MEM_READ_WRITE, lifetime::kept, copy)) return why;
  cl_event e = nullptr;
  const cl_int code =
      clEnqueueCopyBuffer(queue_, static_cast<cl_mem>(a.buffer->memory()),
                          static_cast<cl_mem>(copy->memory()), 0, 0, a.bytes, 0, nullptr, &e);
  error why = enqueued(code, "clEnqueueCopyBuffer", e);
  if (code == CL_SUCCESS) {
    before_.push_back(e);
    call_.scratch.push_back(a.buffer);  // it is read until the copy has reported
    ++device_.figures_.copies_on_device;
  }
  buffers_[at] = copy;
  a.buffer = std::move(copy);
  return why;
}

error submission::prepare(argument& a) {
  const std::size_t at = static_cast<std::size_t>(&a - call_.arguments.data());
  switch (a.kind) {
    case argument_kind::input:
      if (!a.buffer) return give_memory(a);
      buffers_[at] = a.buffer;
      return {};
    case argument_kind::in_out: return a.buffer ? copy_if_shared(a) : give_memory(a);
    case argument_kind::output:
      if (error why = give_memory(a)) return why;
      return a.pinned ? pin(a.bytes, a.host_memory) : error();
    case argument_kind::pin: return pin(a.bytes, a.host_memory);
    case argument_kind::scalar:
    case argument_kind::local:
    case argument_kind::fetch: break;
  }
  return {};
}

error submission::pin(std::size_t bytes, buffer_ptr& into) {
  constexpr cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
  if (error why = make(bytes, flags, lifetime::kept, into)) return why;
  cl_event e = nullptr;
  cl_int code = CL_SUCCESS;
  void* const address =
      clEnqueueMapBuffer(queue_, static_cast<cl_mem>(into->memory()), CL_FALSE,
                         CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr, &e, &code);
  error why = enqueued(code, "clEnqueueMapBuffer", e);
  if (code == CL_SUCCESS) {
    before_.push_back(e);
    into->lies_at(address);
  }
  return why;
}

error submission::run_kernel() {
  const auto kernel = static_cast<cl_kernel>(call_.kernel->handle);
  for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
    const argument& a = call_.arguments[i];
    cl_mem memory = nullptr;
    const void* value = &memory;
    std::size_t bytes = sizeof memory;
    if (a.kind == argument_kind::scalar || a.kind == argument_kind::local) {
      value = a.kind == argument_kind::scalar ? a.host : nullptr;
      bytes = a.bytes;
    } else {
      memory = static_cast<cl_mem>(buffers_[i]->memory());
    }
    const cl_int code = clSetKernelArg(kernel, static_cast<cl_uint>(i), bytes, value);
    if (code != CL_SUCCESS)
      return failed(("clSetKernelArg of argument " + std::to_string(i)).c_str(), code);
  }
  const nd_range& r = call_.range;
  cl_event e = nullptr;
  const cl_int code = clEnqueueNDRangeKernel(
      queue_, kernel, r.dimensions(),
      r.offset() == nd_range::extent{} ? nullptr : r.offset().data(), r.global().data(),
      r.has_groups() ? r.local().data() : nullptr, waits(), wait_list(), &e);
  error why = enqueued(code, "clEnqueueNDRangeKernel", e, true);
  if (code == CL_SUCCESS) {
    before_.clear();
    before_.push_back(e);
  }
  return why;
}

error submission::read_results() {
  for (argument& a : call_.arguments) {
    const bool comes_back =
        (a.kind == argument_kind::output || a.kind == argument_kind::in_out) && !a.stays;
    if (comes_back || a.kind == argument_kind::fetch)
      if (error why = read(a)) return why;
  }
  return {};
}

error submission::read(argument& a) {
  const std::size_t at = static_cast<std::size_t>(&a - call_.arguments.data());
  detail::buffer& from = *(a.kind == argument_kind::fetch ? a.buffer : buffers_[at]).get();
  void* const to = a.pinned ? a.host_memory->address() : a.host;
  cl_event e = nullptr;
  const cl_int code = clEnqueueReadBuffer(queue_, static_cast<cl_mem>(from.memory()), CL_FALSE, 0,
                                          a.bytes, to, waits(), wait_list(), &e);
  return enqueued(code, "clEnqueueReadBuffer", e);
}

}  // namespace garrick::gpu::internal
