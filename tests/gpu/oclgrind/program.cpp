// The program for oclgrind, which looks at every access of a kernel: the kernels of a request, of a
// chain, in place, and with local memory. With the argument `planted`, a kernel that writes behind
// its output.
#include <garrick/gpu/gpu.hpp>

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace garrick;
using floats = std::vector<float>;
using on_device = gpu::device_ref<float>;

const char* const source = R"(
  kernel void twice(global const float* x, global float* out) {
    out[get_global_id(0)] = 2 * x[get_global_id(0)];
  }
  kernel void add_one(global float* x) { x[get_global_id(0)] += 1; }
  kernel void turn(global const float* x, local float* part, global float* out) {
    part[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[get_local_size(0) - 1 - get_local_id(0)];
  }
  kernel void planted(global const float* x, global float* out) {
    out[get_global_id(0) + 1] = x[get_global_id(0)];
  }
)";

int failed(const char* what, const error& why) {
  std::printf("%s: %s\n", what, why.to_string().c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const bool planted = count > 1 && std::string_view(arguments[1]) == "planted";
  gpu::runtime gpus({.queues = 1});
  actor_system system;
  const result<gpu::device> device = gpus.first();
  if (!device) return failed("device", device.error());
  const result<gpu::program> built = gpu::build(system, source, {.on = {*device}}).get();
  if (!built) return failed("build", built.error());
  const gpu::nd_range each = gpu::nd_range::per_element();
  const floats numbers{1, 2, 3, 4, 5, 6, 7, 8};
  if (planted) {
    const auto k = gpu::spawn<floats(floats)>(system, *built, "planted", each);
    static_cast<void>(system.request(k, numbers).get());
    return 0;
  }
  const auto twice = gpu::spawn<on_device(floats)>(system, *built, "twice", each);
  const auto add_one =
      gpu::spawn<void(gpu::in_out<on_device>)>(system, *built, "add_one", gpu::nd_range(8));
  const auto turn = gpu::spawn<floats(on_device, gpu::local<float>)>(system, *built, "turn",
                                                                     gpu::nd_range(8).groups_of(4));
  result<on_device> x = system.request(twice, numbers).get();
  if (!x) return failed("twice", x.error());
  x = system.request(add_one, *std::move(x)).get();
  if (!x) return failed("add_one", x.error());
  const result<floats> y = system.request(turn, *x).get();
  if (!y) return failed("turn", y.error());
  for (const float f : *y) std::printf("%.0f ", static_cast<double>(f));
  std::printf("\n");
}
