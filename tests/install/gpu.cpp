// A kernel as an actor, if this machine has a device.
#include <garrick/gpu/gpu.hpp>

#include <cstdio>
#include <vector>

int main() {
  using namespace garrick;
  using floats = std::vector<float>;
  gpu::runtime gpus;
  actor_system system;
  if (gpus.devices().empty()) return 0;
  const auto program = gpu::build(system,
                                  "kernel void twice(global const float* x, global float* out) {"
                                  "  out[get_global_id(0)] = 2 * x[get_global_id(0)]; }",
                                  {.on = gpus.find()})
                           .get();
  if (!program) return 1;
  const auto twice =
      gpu::spawn<floats(floats)>(system, *program, "twice", gpu::nd_range::per_element());
  const auto answer = system.request(twice, floats{21}).get();
  if (!answer) return 2;
  std::printf("%.0f\n", static_cast<double>(answer->front()));
  return answer->front() == 42 ? 0 : 3;
}
