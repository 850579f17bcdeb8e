// A layer between a program and its OpenCL driver: counts transfers and calls that wait, and
// injects failures. See control.hpp.
//
// Thread safety: any thread.
#define CL_TARGET_OPENCL_VERSION 120
#include "gpu/layer/control.hpp"

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

gpu_layer::control state;
cl_icd_dispatch below{};
cl_icd_dispatch above{};

/// A callback on its way, and its report.
struct watched_callback {
  void(CL_CALLBACK* function)(cl_event, cl_int, void*);
  void* argument;
  bool of_kernel;
  bool of_read;
  cl_event event = nullptr;
  cl_int status = 0;
};
std::mutex held_mutex;
std::vector<watched_callback> held;

thread_local bool in_callback = false;

void saw(const char* name) {
  ++state.calls;
  if (in_callback) ++state.by_callbacks;
  if (const auto observer = state.observer.load()) observer(name);
}
void wait_while(const std::atomic<bool>& flag) {
  if (!flag) return;
  ++state.held_threads;
  flag.wait(true);
  --state.held_threads;
}
cl_int injected(const std::atomic<int>& code) {
  return state.lost ? CL_DEVICE_NOT_AVAILABLE : code.load();
}

void call_back(const watched_callback& c, cl_event e, cl_int status) {
  const bool outer = std::exchange(in_callback, true);
  c.function(e, status, c.argument);
  in_callback = outer;
}

void release_threads() {
  for (auto* const flag : {&state.hold_kernels, &state.hold_builds}) {
    *flag = false;
    flag->notify_all();
  }
}

void release_callbacks() {
  std::vector<watched_callback> all;
  {
    const std::lock_guard lock(held_mutex);
    std::swap(all, held);
  }
  state.held_callbacks = 0;
  for (const watched_callback& c : all) call_back(c, c.event, c.status);
}

void CL_CALLBACK on_event(cl_event e, cl_int status, void* argument) {
  watched_callback c = *static_cast<watched_callback*>(argument);
  delete static_cast<watched_callback*>(argument);
  if (c.of_kernel && state.kernel_status != 0) status = state.kernel_status;
  if (state.lost) status = CL_DEVICE_NOT_AVAILABLE;
  if (state.hold_callbacks || (c.of_read && state.hold_reads)) {
    c.event = e;
    c.status = status;
    const std::lock_guard lock(held_mutex);
    held.push_back(c);
    ++state.held_callbacks;
    return;
  }
  call_back(c, e, status);
}

cl_int CL_API_CALL event_info(cl_event e, cl_event_info what, size_t n, void* to, size_t* needed) {
  const cl_int code = below.clGetEventInfo(e, what, n, to, needed);
  if (code == CL_SUCCESS && to != nullptr && what == CL_EVENT_COMMAND_EXECUTION_STATUS &&
      state.hold_callbacks)
    *static_cast<cl_int*>(to) = CL_RUNNING;
  return code;
}

cl_int CL_API_CALL set_event_callback(cl_event e, cl_int type,
                                      void(CL_CALLBACK* f)(cl_event, cl_int, void*), void* arg) {
  saw("clSetEventCallback");
  cl_command_type what = 0;
  below.clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof what, &what, nullptr);
  auto* const c = new watched_callback{f, arg, what == CL_COMMAND_NDRANGE_KERNEL,
                                       what == CL_COMMAND_READ_BUFFER};
  return below.clSetEventCallback(e, type, &on_event, c);
}

cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t n, void* host,
                                 cl_int* code) {
  saw("clCreateBuffer");
  if (const cl_int no = injected(state.buffer_code); no != 0) {
    *code = no;
    return nullptr;
  }
  const cl_mem m = below.clCreateBuffer(c, flags, n, host, code);
  if (m != nullptr) ++state.buffers;
  return m;
}
cl_int CL_API_CALL release_memory(cl_mem m) {
  saw("clReleaseMemObject");
  --state.buffers;
  return below.clReleaseMemObject(m);
}

cl_int CL_API_CALL write_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t at, size_t n,
                                const void* from, cl_uint waits, const cl_event* list,
                                cl_event* e) {
  saw("clEnqueueWriteBuffer");
  if (blocking != CL_FALSE) ++state.blocking;
  ++state.writes;
  if (const cl_int no = injected(state.write_code); no != 0) return no;
  return below.clEnqueueWriteBuffer(q, m, blocking, at, n, from, waits, list, e);
}
cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t at, size_t n,
                               void* to, cl_uint waits, const cl_event* list, cl_event* e) {
  saw("clEnqueueReadBuffer");
  if (blocking != CL_FALSE) ++state.blocking;
  ++state.reads;
  if (const cl_int no = injected(state.read_code); no != 0) return no;
  return below.clEnqueueReadBuffer(q, m, blocking, at, n, to, waits, list, e);
}
cl_int CL_API_CALL copy_buffer(cl_command_queue q, cl_mem from, cl_mem to, size_t a, size_t b,
                               size_t n, cl_uint waits, const cl_event* list, cl_event* e) {
  saw("clEnqueueCopyBuffer");
  ++state.copies;
  return below.clEnqueueCopyBuffer(q, from, to, a, b, n, waits, list, e);
}
void* CL_API_CALL map_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags,
                             size_t at, size_t n, cl_uint waits, const cl_event* list, cl_event* e,
                             cl_int* code) {
  saw("clEnqueueMapBuffer");
  if (blocking != CL_FALSE) ++state.blocking;
  ++state.maps;
  return below.clEnqueueMapBuffer(q, m, blocking, flags, at, n, waits, list, e, code);
}
cl_int CL_API_CALL run_kernel(cl_command_queue q, cl_kernel k, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint waits, const cl_event* list, cl_event* e) {
  saw("clEnqueueNDRangeKernel");
  wait_while(state.hold_kernels);
  ++state.kernels;
  if (const cl_int no = injected(state.kernel_code); no != 0) return no;
  return below.clEnqueueNDRangeKernel(q, k, dimensions, offset, global, local, waits, list, e);
}

cl_int CL_API_CALL release_context(cl_context c) {
  saw("clReleaseContext");
  return below.clReleaseContext(c);
}
cl_int CL_API_CALL release_queue(cl_command_queue q) {
  saw("clReleaseCommandQueue");
  return below.clReleaseCommandQueue(q);
}

cl_int CL_API_CALL set_argument(cl_kernel k, cl_uint i, size_t n, const void* value) {
  saw("clSetKernelArg");
  if (const cl_int no = state.argument_code; no != 0) return no;
  return below.clSetKernelArg(k, i, n, value);
}

cl_int CL_API_CALL flush(cl_command_queue q) {
  saw("clFlush");
  ++state.flushes;
  return state.lost ? CL_DEVICE_NOT_AVAILABLE : below.clFlush(q);
}
cl_int CL_API_CALL finish(cl_command_queue q) {
  saw("clFinish");
  ++state.blocking;
  return below.clFinish(q);
}
cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event* list) {
  saw("clWaitForEvents");
  ++state.blocking;
  return below.clWaitForEvents(n, list);
}

cl_program CL_API_CALL program_with_source(cl_context c, cl_uint n, const char** texts,
                                           const size_t* sizes, cl_int* code) {
  saw("clCreateProgramWithSource");
  ++state.sources;
  return below.clCreateProgramWithSource(c, n, texts, sizes, code);
}
cl_program CL_API_CALL program_with_binary(cl_context c, cl_uint n, const cl_device_id* devices,
                                           const size_t* sizes, const unsigned char** binaries,
                                           cl_int* status, cl_int* code) {
  saw("clCreateProgramWithBinary");
  ++state.binaries;
  return below.clCreateProgramWithBinary(c, n, devices, sizes, binaries, status, code);
}
cl_int CL_API_CALL build_program(cl_program p, cl_uint n, const cl_device_id* devices,
                                 const char* flags, void(CL_CALLBACK* f)(cl_program, void*),
                                 void* arg) {
  saw("clBuildProgram");
  wait_while(state.hold_builds);
  if (const cl_int no = injected(state.build_code); no != 0) return no;
  return below.clBuildProgram(p, n, devices, flags, f, arg);
}
cl_int CL_API_CALL kernel_arg_info(cl_kernel k, cl_uint i, cl_kernel_arg_info what, size_t n,
                                   void* to, size_t* needed) {
  if (state.no_argument_info) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  return below.clGetKernelArgInfo(k, i, what, n, to, needed);
}

cl_int CL_API_CALL device_ids(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id* to,
                              cl_uint* found) {
  if (state.no_devices) return CL_DEVICE_NOT_FOUND;
  return below.clGetDeviceIDs(p, type, n, to, found);
}
cl_int CL_API_CALL device_info(cl_device_id d, cl_device_info what, size_t n, void* to,
                               size_t* needed) {
  const cl_int code = below.clGetDeviceInfo(d, what, n, to, needed);
  if (code != CL_SUCCESS || to == nullptr) return code;
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG && state.no_doubles)
    *static_cast<cl_device_fp_config*>(to) = 0;
  if (what == CL_DEVICE_QUEUE_PROPERTIES && state.in_order)
    *static_cast<cl_command_queue_properties*>(to) = CL_QUEUE_PROFILING_ENABLE;
  return code;
}

}  // namespace

extern "C" {

gpu_layer::control* garrick_layer_control() {
  state.release_callbacks = &release_callbacks;
  state.release_threads = &release_threads;
  return &state;
}

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t n, void* to, size_t* needed) {
  if (what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (to != nullptr && n < sizeof(cl_layer_api_version)) return CL_INVALID_VALUE;
  if (to != nullptr) *static_cast<cl_layer_api_version*>(to) = CL_LAYER_API_VERSION_100;
  if (needed != nullptr) *needed = sizeof(cl_layer_api_version);
  return CL_SUCCESS;
}

cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* ours,
                               const cl_icd_dispatch** layer) {
  constexpr cl_uint known = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (target == nullptr || ours == nullptr || layer == nullptr) return CL_INVALID_VALUE;
  const cl_uint shared = entries < known ? entries : known;
  std::memcpy(static_cast<void*>(&below), target, shared * sizeof(void*));
  above = below;
  above.clGetEventInfo = &event_info;
  above.clSetEventCallback = &set_event_callback;
  above.clCreateBuffer = &create_buffer;
  above.clReleaseMemObject = &release_memory;
  above.clEnqueueWriteBuffer = &write_buffer;
  above.clEnqueueReadBuffer = &read_buffer;
  above.clEnqueueCopyBuffer = &copy_buffer;
  above.clEnqueueMapBuffer = &map_buffer;
  above.clEnqueueNDRangeKernel = &run_kernel;
  above.clReleaseContext = &release_context;
  above.clReleaseCommandQueue = &release_queue;
  above.clSetKernelArg = &set_argument;
  above.clFlush = &flush;
  above.clFinish = &finish;
  above.clWaitForEvents = &wait_for_events;
  above.clCreateProgramWithSource = &program_with_source;
  above.clCreateProgramWithBinary = &program_with_binary;
  above.clBuildProgram = &build_program;
  above.clGetKernelArgInfo = &kernel_arg_info;
  above.clGetDeviceIDs = &device_ids;
  above.clGetDeviceInfo = &device_info;
  *ours = shared;
  *layer = &above;
  return CL_SUCCESS;
}

}  // extern "C"
