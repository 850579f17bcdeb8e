#include "gpu/devices.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <numeric>
#include <utility>

#include "support/places.hpp"

namespace gpu_tests {

namespace {

// Before main, so before any thread and any call of OpenCL.
const bool environment_is_set = [] {
  setenv("POCL_DEVICES", "pthread pthread", 0);
  setenv("OPENCL_LAYERS", garrick::tests::places::opencl_layer, 0);
  return true;
}();

settings with_workers(std::uint32_t n) {
  settings s;
  s.scheduler.workers = n;
  return s;
}

}  // namespace

gpu_layer::control& layer() {
  static gpu_layer::control* const found = [] {
    void* const library = dlopen(garrick::tests::places::opencl_layer, RTLD_NOW);
    REQUIRE(library != nullptr);
    void* const function = dlsym(library, "garrick_layer_control");
    REQUIRE(function != nullptr);
    return reinterpret_cast<gpu_layer::control* (*)()>(function)();
  }();
  return *found;
}

void restore(gpu_layer::control& l) {
  for (auto* const code : {&l.buffer_code, &l.argument_code, &l.kernel_code, &l.write_code,
                           &l.read_code, &l.kernel_status, &l.build_code})
    *code = 0;
  for (auto* const flag : {&l.lost, &l.no_doubles, &l.no_devices, &l.no_argument_info, &l.in_order,
                           &l.hold_callbacks, &l.hold_reads})
    *flag = false;
  l.release_threads();
  l.observer = nullptr;
  l.release_callbacks();
  // For every test: no thread has waited, and callbacks have called nothing.
  CHECK(l.blocking.exchange(0) == 0);
  CHECK(l.by_callbacks.exchange(0) == 0);
}

const char* const kernels = R"(
  kernel void add(global const float* a, global const float* b, global float* out) {
    const size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
  }
  kernel void scale(global float* x, const float by) { x[get_global_id(0)] *= by; }
  kernel void square(global const float* x, global float* out) {
    const size_t i = get_global_id(0);
    out[i] = x[i] * x[i];
  }
  kernel void both(global const float* x, global float* twice, global int* whole) {
    const size_t i = get_global_id(0);
    twice[i] = 2 * x[i];
    whole[i] = (int)x[i];
  }
  kernel void group_sums(global const int* x, local int* part, global int* out) {
    const size_t l = get_local_id(0);
    part[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t h = get_local_size(0) / 2; h > 0; h /= 2) {
      if (l < h) part[l] += part[l + h];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
  }
  kernel void where(global int* out) {
    const size_t w = get_global_size(0), h = get_global_size(1);
    const size_t x = get_global_id(0) - get_global_offset(0);
    const size_t y = get_global_id(1) - get_global_offset(1);
    const size_t z = get_global_id(2) - get_global_offset(2);
    out[(z * h + y) * w + x] = (int)(get_global_id(0) + 100 * get_global_id(1)
                                     + 10000 * get_global_id(2));
  }
  kernel void table(global const int* x, constant int* t, global int* out) {
    const size_t i = get_global_id(0);
    out[i] = t[x[i]];
  }
  kernel void precise(global const double* x, global double* out) {
    const size_t i = get_global_id(0);
    out[i] = sqrt(x[i]);
  }
  typedef struct { float at; int id; } particle;
  kernel void move(global particle* p, const particle by) {
    p[get_global_id(0)].at += by.at;
    p[get_global_id(0)].id += by.id;
  }
  kernel void slow(global const int* rounds, global int* out) {
    int x = rounds[get_global_id(0)];
    for (int i = 0; i < rounds[get_global_id(0)]; ++i) x = x * 1664525 + 1013904223;
    out[get_global_id(0)] = x;
  }
)";

bench_of_devices::bench_of_devices(const gpu::gpu_settings& s, std::uint32_t workers)
    : gpus((layer(), s)), how(with_workers(workers)), system(how) {
  REQUIRE(!gpus.devices().empty());
}

bench_of_devices::~bench_of_devices() { restore(layer()); }

gpu::program bench_of_devices::built(std::vector<gpu::device> on) {
  return gpu::build(system, kernels, {.on = std::move(on), .name = "kernels of the tests"})
      .get()
      .value();
}

floats counting(std::size_t n) {
  floats all(n);
  std::iota(all.begin(), all.end(), 0.0f);
  return all;
}

}  // namespace gpu_tests
