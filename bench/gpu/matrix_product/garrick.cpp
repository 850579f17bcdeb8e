// One product after the other. The matrix turns its rows by one place, so its power is known.
#include <garrick/gpu/gpu.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/garrick_system.hpp"
#include "gpu/common/device_of_bench.hpp"

namespace {

using namespace garrick;
using numbers = std::vector<float>;
using on_device = gpu::device_ref<float>;

const char* const source = R"(
  kernel void multiply(global const float* a, global const float* b, global float* product) {
    const size_t column = get_global_id(0), row = get_global_id(1), side = get_global_size(0);
    float sum = 0;
    for (size_t i = 0; i < side; ++i) sum += a[row * side + i] * b[i * side + column];
    product[row * side + column] = sum;
  }
)";

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::size_t side = args.count("side", 128);
  const std::size_t products = args.count("products", 200);
  const bool refs = args.number("refs", 1, 0, 1) != 0;
  gpu::runtime gpus;
  const gpu::device device = choose_device(args, gpus);
  numbers rotation(side * side);
  for (std::size_t row = 0; row < side; ++row) rotation[row * side + (row + 1) % side] = 1;
  numbers power;
  std::int64_t took = 0;
  run_system(args, [&](actor_system& system) {
    const gpu::program program = gpu::build(system, source, {.on = {device}}).get().value();
    const gpu::nd_range all(side, side);
    const auto by_refs =
        gpu::spawn<on_device(on_device, on_device)>(system, program, "multiply", all);
    const auto by_host = gpu::spawn<numbers(numbers, numbers)>(system, program, "multiply", all);
    static_cast<void>(system.request(by_host, rotation, rotation).get().value());
    const std::int64_t begun = now_ns();
    if (refs) {
      const on_device one = gpu::upload(system, device, rotation).get().value();
      on_device x = one;
      for (std::size_t i = 0; i < products; ++i)
        x = system.request(by_refs, std::move(x), one).get().value();
      power = gpu::download(system, x).get().value();
    } else {
      power = rotation;
      for (std::size_t i = 0; i < products; ++i)
        power = system.request(by_host, std::move(power), rotation).get().value();
    }
    took = now_ns() - begun;
  });
  std::uint64_t right = 0;
  for (std::size_t row = 0; row < side; ++row)
    for (std::size_t column = 0; column < side; ++column)
      right += power[row * side + column] == ((row + 1 + products) % side == column ? 1.0f : 0.0f);
  out.expect("right elements", side * side, right);
  out.seconds = static_cast<double>(took) * 1e-9;
  out.items = products;
  out.lines("the device", device_text(device));
}
