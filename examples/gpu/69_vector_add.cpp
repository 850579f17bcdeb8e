// A kernel as an actor: two vectors in, their sum out.
#include <garrick/gpu/gpu.hpp>

#include <cstdio>
#include <vector>

using namespace garrick;

// [source]
const char* const source = R"(
  kernel void add(global const float* a, global const float* b, global float* sum) {
    const size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
  }
)";
// [/source]

int main() {
  // [run]
  gpu::runtime gpus;  // before the system, so that it is destroyed after it
  actor_system system;
  using floats = std::vector<float>;

  const result<gpu::program> program =
      gpu::build(system, source, {.on = gpus.find(), .name = "sums"}).get();
  if (!program) {
    std::printf("%s\n", program.error().to_string().c_str());
    return 1;
  }
  const auto add =
      gpu::spawn<floats(floats, floats)>(system, *program, "add", gpu::nd_range::per_element());
  const floats sum = system.request(add, floats{1, 2, 3}, floats{10, 20, 30}).get().value();
  std::printf("%.0f %.0f %.0f\n", sum[0], sum[1], sum[2]);
  // [/run]

  // [error]
  const error why = system.request(add, floats{1, 2, 3}, floats{10}).get().error();
  std::printf("%s\n", why.message().c_str());  // to_string() has kernel, device and sizes
  // [/error]
}
