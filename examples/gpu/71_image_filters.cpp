// Pictures through a pipeline of kernels. They stay on the device from the first filter to the
// last, and several are under way at once.
//
//   71_image_filters [PATH]    where the last picture goes; nowhere without it
#include <garrick/gpu/gpu.hpp>
#include <garrick/patterns/patterns.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../data_parallel/png.hpp"

using namespace garrick;
using namespace garrick::patterns;

constexpr std::size_t width = 192;
constexpr std::size_t height = 128;
using pixels = std::vector<float>;         // from 0 to 1, row by row
using on_device = gpu::device_ref<float>;  // the same

// [source]
const char* const source = R"(
  kernel void blur(global const float* in, global float* out) {
    const int x = get_global_id(0), y = get_global_id(1);
    const int w = get_global_size(0), h = get_global_size(1);
    float sum = 0;
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx)
        sum += in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
    out[y * w + x] = sum / 25;
  }
  kernel void edges(global const float* in, global float* out) {
    const int x = get_global_id(0), y = get_global_id(1);
    const int w = get_global_size(0), h = get_global_size(1);
    const float right = in[y * w + min(x + 1, w - 1)] - in[y * w + x];
    const float below = in[min(y + 1, h - 1) * w + x] - in[y * w + x];
    out[y * w + x] = sqrt(right * right + below * below);
  }
  kernel void stretch(global float* picture, const float by) {
    const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    picture[i] = min(picture[i] * by, 1.0f);
  }
)";
// [/source]

/// Rings around a point that moves from picture to picture.
pixels rings(int number) {
  pixels p(width * height);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const double dx = static_cast<double>(x) - 40 - 10 * number;
      const double dy = static_cast<double>(y) - 64;
      p[y * width + x] = std::sin(std::hypot(dx, dy) / 6) > 0 ? 1 : 0;
    }
  return p;
}

std::vector<pixels> collect(std::vector<pixels> all, const pixels& p) {
  all.push_back(p);
  return all;
}

void write(const std::string& path, const pixels& p) {
  png file(path, width, height);
  for (std::size_t y = 0; y < height; ++y) {
    std::string row;
    for (std::size_t x = 0; x < width; ++x)
      row.append(3, static_cast<char>(p[y * width + x] * 255));
    file.add_row(row);
  }
}

int main(int count, char** arguments) {
  gpu::runtime gpus;
  actor_system system;
  const gpu::program program = gpu::build(system, source, {.on = gpus.find()}).get().value();

  // [pipeline]
  const gpu::nd_range whole(width, height);
  const auto filters = pipeline(
      counting(0, 12), rings,                                     // on the processors
      gpu::stage<on_device(pixels)>(program, "blur", whole),      // to the device
      gpu::stage<on_device(on_device)>(program, "edges", whole),  // stays there
      seq([](on_device d) { return std::tuple(std::move(d), 4.0f); }).cheap(),
      gpu::stage<void(gpu::in_out<on_device>, float)>(program, "stretch", whole),  // in place
      gpu::stage<pixels(on_device)>(program, "blur", whole),                       // and back
      fold(std::vector<pixels>(), collect));
  const auto stream = patterns::spawn(system, filters);
  const std::vector<pixels> pictures = system.request(stream, join{}).get().value();
  // [/pipeline]

  double light = 0;
  for (const pixels& p : pictures)
    for (const float x : p) light += static_cast<double>(x);
  std::printf("%zu pictures, %s\n", pictures.size(), light > 1000 ? "with edges" : "all dark");
  if (count > 1) write(arguments[1], pictures.back());
}
