// The base of the other tests: the layer is there, and sees each call that waits.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <atomic>

#include "gpu/devices.hpp"

namespace layer_test {
namespace {

using namespace gpu_tests;

TEST_CASE("the layer counts every call that waits for a device") {
  auto& counted = layer().blocking;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  REQUIRE(clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
  REQUIRE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  const cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 16, nullptr, nullptr);
  REQUIRE(memory != nullptr);
  counted = 0;
  std::array<char, 16> bytes{};
  cl_event e = nullptr;
  const auto blocks = [&](bool waits, auto call) {
    const auto before = counted.load();
    call();
    CHECK(counted - before == (waits ? 1 : 0));
  };
  for (const bool waits : {false, true}) {
    const cl_bool how = waits ? CL_TRUE : CL_FALSE;
    blocks(waits, [&] {
      clEnqueueWriteBuffer(queue, memory, how, 0, 16, bytes.data(), 0, nullptr, nullptr);
    });
    blocks(waits,
           [&] { clEnqueueReadBuffer(queue, memory, how, 0, 16, bytes.data(), 0, nullptr, &e); });
    blocks(true, [&] { clWaitForEvents(1, &e); });
    clReleaseEvent(e);
    void* at = nullptr;
    blocks(waits, [&] {
      at = clEnqueueMapBuffer(queue, memory, how, CL_MAP_READ, 0, 16, 0, nullptr, nullptr, nullptr);
    });
    clEnqueueUnmapMemObject(queue, memory, at, 0, nullptr, nullptr);
    blocks(true, [&] { clFinish(queue); });
  }
  CHECK(counted == 7);
  // and the calls of a callback: here inside of clSetEventCallback or on a thread of the driver's
  static std::atomic<bool> called{false};
  const auto before = layer().by_callbacks.load();
  clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 16, bytes.data(), 0, nullptr, &e);
  clSetEventCallback(
      e, CL_COMPLETE,
      [](cl_event, cl_int, void* at) {
        clFlush(static_cast<cl_command_queue>(at));
        called = true;
      },
      queue);
  clFlush(queue);
  wait_until([] { return called.load(); });
  CHECK(layer().by_callbacks == before + 1);
  layer().by_callbacks = 0;
  clReleaseEvent(e);
  counted = 0;
  clReleaseMemObject(memory);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}

}  // namespace
}  // namespace layer_test
