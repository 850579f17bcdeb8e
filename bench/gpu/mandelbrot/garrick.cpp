// A picture whose first rows are a request to a kernel's actor, and each other row one to an actor
// on the processors.
#include <garrick/gpu/gpu.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/garrick_system.hpp"
#include "gpu/common/device_of_bench.hpp"

namespace {

using namespace garrick;
using row = std::vector<std::uint32_t>;

// The cut of the paper. Both sides test
// z
// ^2 in the same steps.
constexpr float left = -0.5f, right = 0.1f, top = -0.7375f, bottom = -0.1375f;

const char* const source = R"(
  #pragma OPENCL FP_CONTRACT OFF
  kernel void mandelbrot(const float left, const float top, const float dx, const float dy,
                         const uint limit, global uint* steps) {
    const size_t column = get_global_id(0), row = get_global_id(1);
    const float x = left + (float)column * dx, y = top + (float)row * dy;
    float a = 0, b = 0;
    uint n = 0;
    for (; n < limit; ++n) {
      const float aa = a * a, bb = b * b;
      if (aa + bb > 4) break;
      b = 2 * a * b + y;
      a = aa - bb + x;
    }
    steps[row * get_global_size(0) + column] = n;
  }
)";
using kernel = row(float, float, float, float, std::uint32_t);

struct picture {
  std::uint32_t width, height, limit;
  [[nodiscard]] float dx() const { return (right - left) / static_cast<float>(width); }
  [[nodiscard]] float dy() const { return (bottom - top) / static_cast<float>(height); }
};

struct row_number {
  std::uint32_t at;
};
class row_actor : public actor<protocol<row(row_number)>> {
 public:
  explicit row_actor(picture p) : p_(p) {}
  row on(row_number r) {
    row steps(p_.width);
    const float y = top + static_cast<float>(r.at) * p_.dy();
    for (std::uint32_t column = 0; column < p_.width; ++column) {
      const float x = left + static_cast<float>(column) * p_.dx();
      float a = 0;
      float b = 0;
      std::uint32_t n = 0;
      for (; n < p_.limit; ++n) {
        const float aa = a * a;
        const float bb = b * b;
        if (aa + bb > 4) break;
        b = 2 * a * b + y;
        a = aa - bb + x;
      }
      steps[column] = n;
    }
    return steps;
  }

 private:
  const picture p_;
};

struct made {
  row steps;  // of all rows
  std::int64_t total_ns = 0;
  std::int64_t processors_ns = 0;
  std::int64_t device_ns = 0;
};

// Makes one picture: `on(n)` has the first n rows made on the device.
class painter : public actor<protocol<made(std::uint32_t)>> {
 public:
  painter(picture p, gpu::program program) : p_(p), program_(std::move(program)) {}

  result<made> on(std::uint32_t rows_on_device) {
    promise_ = make_promise<made>();
    result<made> later = promise_;
    now_ = {};
    now_.steps.resize(std::size_t{p_.width} * p_.height);
    begun_ = bench::now_ns();
    due_ = p_.height - rows_on_device;
    device_due_ = rows_on_device != 0;
    if (device_due_) {
      const auto k = gpu::spawn<kernel>(*this, program_, "mandelbrot",
                                        gpu::nd_range(p_.width, rows_on_device));
      request(k, left, top, p_.dx(), p_.dy(), p_.limit)
          .then(
              [this](const row& steps) {
                std::ranges::copy(steps, now_.steps.begin());
                now_.device_ns = bench::now_ns() - begun_;
                device_due_ = false;
                look();
              },
              [this](const error& why) { promise_.fail(why); });
    }
    for (std::uint32_t r = rows_on_device; r < p_.height; ++r)
      request(spawn<row_actor>(p_), row_number{r}).then([this, r](const row& steps) {
        std::ranges::copy(steps, now_.steps.begin() + std::size_t{r} * p_.width);
        if (--due_ == 0) now_.processors_ns = bench::now_ns() - begun_;
        look();
      });
    return later;
  }

 private:
  void look() {
    if (due_ != 0 || device_due_) return;
    now_.total_ns = bench::now_ns() - begun_;
    promise_.deliver(std::move(now_));
  }

  const picture p_;
  const gpu::program program_;
  response_promise<made> promise_;
  made now_;
  std::int64_t begun_ = 0;
  std::uint32_t due_ = 0;
  bool device_due_ = false;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const picture p{args.count("width", 1920), args.count("height", 1080), args.count("limit", 100)};
  gpu::runtime gpus;
  const gpu::device device = choose_device(args, gpus);
  out.seconds = run_system(args, [&](actor_system& system) {
    const gpu::program program =
        gpu::build(system, source, {.on = {device}, .name = "mandelbrot"}).get().value();
    const auto painter_of_all = system.spawn<painter>(p, program);
    const auto paint = [&](std::uint32_t rows) {
      return system.request(painter_of_all, rows).get().value();
    };
    static_cast<void>(paint(p.height));  // a driver does more for its first kernel
    const made reference = paint(0);
    for (std::uint32_t percent = 0; percent <= 100; percent += 10) {
      const auto before = gpu::figures_of(system, device).get().value().kernel_time;
      const made m = paint(p.height * percent / 100);
      const auto kernels = gpu::figures_of(system, device).get().value().kernel_time - before;
      const auto ms = [&](const char* what, std::int64_t ns) {
        const std::string name = std::string(what) + "_" + std::to_string(percent) + "_ms";
        out.detail(name.c_str(), static_cast<double>(ns) * 1e-6);
      };
      ms("total", m.total_ns);
      ms("processors", m.processors_ns);
      ms("device", m.device_ns);
      ms("kernel", kernels.count());
      const auto differ = std::ranges::mismatch(m.steps, reference.steps).in1 - m.steps.begin();
      out.expect("pixels before the first that differs", std::uint64_t{p.width} * p.height,
                 static_cast<std::uint64_t>(differ));
    }
  });
  out.items = 11ull * p.width * p.height;
  out.lines("the device", device_text(device));
}
