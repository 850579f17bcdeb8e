// The same calls of OpenCL as an actor makes, by hand: buffers, a write, a kernel, a read, a
// callback; and a thread that waits for the callbacks.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// Requests by hand to one device. For one thread, except its callbacks.
class by_hand {
 public:
  // The device with this name.
  by_hand(const std::string& device, const char* source, const char* kernel) {
    cl_platform_id platforms[16];
    cl_uint n = 0;
    check(clGetPlatformIDs(16, platforms, &n), "clGetPlatformIDs");
    for (cl_uint p = 0; p < n && device_ == nullptr; ++p) {
      cl_device_id all[16];
      cl_uint count = 0;
      if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, all, &count) != CL_SUCCESS) continue;
      for (cl_uint d = 0; d < count && device_ == nullptr; ++d) {
        char name[1024] = {};
        clGetDeviceInfo(all[d], CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
        if (device == name) device_ = all[d];
      }
    }
    if (device_ == nullptr) arguments::fail("the device is not found by hand");
    cl_int code = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    cl_command_queue_properties can = 0;
    clGetDeviceInfo(device_, CL_DEVICE_QUEUE_PROPERTIES, sizeof can, &can, nullptr);
    queue_ = clCreateCommandQueue(
        context_, device_,
        CL_QUEUE_PROFILING_ENABLE | (can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), &code);
    check(code, "clCreateCommandQueue");
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
    kernel_ = clCreateKernel(program_, kernel, &code);
    check(code, "clCreateKernel");
  }
  by_hand(const by_hand&) = delete;
  by_hand& operator=(const by_hand&) = delete;
  ~by_hand() {
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }

  // Makes `requests` requests, at most `under_way` of them at a time. Returns the nanoseconds, and
  // sets those of the kernels.
  std::int64_t run(std::size_t requests, std::size_t under_way, const std::vector<float>& in,
                   std::uint32_t rounds, std::int64_t& kernel_ns, float& last) {
    kernel_ns = 0;
    std::vector<request> places(under_way);
    for (request& r : places) r.of = this;
    const std::int64_t begun = now_ns();
    for (std::size_t i = 0; i < requests; ++i) {
      request& r = places[i % under_way];
      wait(r);
      finish(r, kernel_ns, last);
      start(r, in, rounds);
    }
    for (request& r : places) {
      wait(r);
      finish(r, kernel_ns, last);
    }
    return now_ns() - begun;
  }

 private:
  struct request {
    by_hand* of = nullptr;
    bool busy = false;  // under the lock
    cl_event written = nullptr, run = nullptr, read = nullptr;
    cl_mem in = nullptr, out = nullptr;
    std::vector<float> from, to;
  };

  static void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS)
      arguments::fail(std::string(what) + " by hand: " + std::to_string(code));
  }
  static void CL_CALLBACK on_read(cl_event, cl_int, void* at) {
    request& r = *static_cast<request*>(at);
    const std::lock_guard lock(r.of->mutex_);
    r.busy = false;
    r.of->done_.notify_one();
  }
  void wait(request& r) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !r.busy; });
  }
  void start(request& r, const std::vector<float>& in, std::uint32_t rounds) {
    r.from = in;  // as a message has its own
    r.to.assign(in.size(), 0);
    const std::size_t bytes = in.size() * sizeof(float);
    cl_int code = 0;
    r.in = clCreateBuffer(context_, CL_MEM_READ_ONLY, bytes, nullptr, &code);
    check(code, "clCreateBuffer");
    r.out = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    check(code, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue_, r.in, CL_FALSE, 0, bytes, r.from.data(), 0, nullptr,
                               &r.written),
          "clEnqueueWriteBuffer");
    clSetKernelArg(kernel_, 0, sizeof r.in, &r.in);
    clSetKernelArg(kernel_, 1, sizeof rounds, &rounds);
    clSetKernelArg(kernel_, 2, sizeof r.out, &r.out);
    const std::size_t n = in.size();
    check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &n, nullptr, 1, &r.written, &r.run),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue_, r.out, CL_FALSE, 0, bytes, r.to.data(), 1, &r.run, &r.read),
          "clEnqueueReadBuffer");
    r.busy = true;
    check(clSetEventCallback(r.read, CL_COMPLETE, &on_read, &r), "clSetEventCallback");
    check(clFlush(queue_), "clFlush");
  }
  static void finish(request& r, std::int64_t& kernel_ns, float& last) {
    if (r.read == nullptr) return;
    cl_ulong begin = 0;
    cl_ulong end = 0;
    clGetEventProfilingInfo(r.run, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
    clGetEventProfilingInfo(r.run, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    kernel_ns += static_cast<std::int64_t>(end - begin);
    last = r.to.back();
    for (cl_event* const e : {&r.written, &r.run, &r.read}) {
      clReleaseEvent(*e);
      *e = nullptr;
    }
    clReleaseMemObject(r.in);
    clReleaseMemObject(r.out);
  }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  std::mutex mutex_;
  std::condition_variable done_;
};

}  // namespace bench
