// A power of a matrix: every product but the first works on data that is already on the device.
#include <garrick/gpu/gpu.hpp>

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

using namespace garrick;

constexpr std::size_t side = 64;

const char* const source = R"(
  kernel void multiply(global const float* a, global const float* b, global float* product) {
    const size_t column = get_global_id(0), row = get_global_id(1), side = get_global_size(0);
    float sum = 0;
    for (size_t i = 0; i < side; ++i) sum += a[row * side + i] * b[i * side + column];
    product[row * side + column] = sum;
  }
)";

int main() {
  gpu::runtime gpus;
  actor_system system;
  const result<gpu::device> device = gpus.first();
  if (!device) {
    std::printf("%s\n", device.error().to_string().c_str());
    return 1;
  }
  const gpu::program program = gpu::build(system, source, {.on = {*device}}).get().value();

  // A rotation of the rows by one: its 64th power is the identity.
  std::vector<float> rotation(side * side);
  for (std::size_t row = 0; row < side; ++row) rotation[row * side + (row + 1) % side] = 1;

  // [chain]
  using matrix = gpu::device_ref<float>;
  const auto multiply =
      gpu::spawn<matrix(matrix, matrix)>(system, program, "multiply", gpu::nd_range(side, side));
  const matrix one = gpu::upload(system, *device, rotation).get().value();
  matrix power = one;
  for (int n = 2; n <= 64; ++n)
    power = system.request(multiply, std::move(power), one).get().value();
  const std::vector<float> back = gpu::download(system, power).get().value();
  // [/chain]

  float trace = 0;
  for (std::size_t i = 0; i < side; ++i) trace += back[i * side + i];
  std::printf("the trace of the 64th power is %.0f\n", trace);
  std::printf(
      "%llu kernels have run\n",
      static_cast<unsigned long long>(gpu::figures_of(system, *device).get().value().kernels));
}
