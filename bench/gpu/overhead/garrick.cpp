// The same requests by an actor and by hand, in turn, in one process: so both meet the same driver
// and the same machine. The figure is the median of the pairs' ratios.
#include <garrick/gpu/gpu.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/garrick_system.hpp"
#include "gpu/common/device_of_bench.hpp"
#include "gpu/overhead/by_hand.hpp"

namespace {

using namespace garrick;
using numbers = std::vector<float>;
using kernel = numbers(numbers, std::uint32_t);

const char* const source = R"(
  kernel void busy(global const float* in, const uint rounds, global float* out) {
    const size_t i = get_global_id(0);
    float x = in[i];
    for (uint n = 0; n < rounds; ++n) x = x * 0.999f + 0.001f;
    out[i] = x;
  }
)";

struct job {
  std::uint32_t requests, under_way, rounds;
};

// Keeps some requests under way until all are answered.
class asker : public actor<protocol<float(job)>> {
 public:
  asker(gpu::kernel_ref<kernel> k, numbers in) : kernel_(std::move(k)), in_(std::move(in)) {}
  result<float> on(job j) {
    promise_ = make_promise<float>();
    result<float> later = promise_;
    job_ = j;
    sent_ = answered_ = 0;
    while (sent_ < std::min(job_.under_way, job_.requests)) ask();
    return later;
  }

 private:
  void ask() {
    ++sent_;
    request(kernel_, in_, job_.rounds)
        .then(
            [this](const numbers& out) {
              if (sent_ < job_.requests) ask();
              if (++answered_ == job_.requests) promise_.deliver(out.back());
            },
            [this](const error& why) { promise_.fail(why); });
  }

  const gpu::kernel_ref<kernel> kernel_;
  const numbers in_;
  response_promise<float> promise_;
  job job_{};
  std::uint32_t sent_ = 0;
  std::uint32_t answered_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t pairs = args.count("pairs", 20);
  const std::uint32_t requests = args.count("requests", 40);
  const std::uint32_t under_way = args.count("under_way", 1);
  const auto wanted_ns = static_cast<std::int64_t>(args.count("kernel_us", 1000)) * 1000;
  gpu::runtime gpus({.in_flight = std::max(under_way, 1u)});
  const gpu::device device = choose_device(args, gpus);
  const numbers in((64 << 10) / sizeof(float), 2.0f);
  by_hand bare(device.name(), source, "busy");
  float last = 0;
  std::int64_t kernel_ns = 0;
  // So many rounds that a kernel takes as long as is wanted when it is alone.
  std::uint32_t rounds = 16;
  for (int i = 0; i < 12; ++i) {
    static_cast<void>(bare.run(5, 1, in, rounds, kernel_ns, last));
    const double factor = static_cast<double>(wanted_ns) * 5 / static_cast<double>(kernel_ns);
    rounds = static_cast<std::uint32_t>(
        std::clamp(static_cast<double>(rounds) * std::min(factor, 8.0), 1.0, 1e8));
  }
  std::vector<double> ratios;
  std::int64_t bare_ns = 0;
  std::int64_t ours_ns = 0;
  out.seconds = run_system(args, [&](actor_system& system) {
    const gpu::program program = gpu::build(system, source, {.on = {device}}).get().value();
    const auto ours = system.spawn<asker>(
        gpu::spawn<kernel>(system, program, "busy", gpu::nd_range::per_element()), in);
    static_cast<void>(system.request(ours, job{8, under_way, rounds}).get().value());
    for (std::uint32_t i = 0; i < pairs; ++i) {
      float by_actor = 0;
      const auto actors = [&] {
        const std::int64_t begun = now_ns();
        by_actor = system.request(ours, job{requests, under_way, rounds}).get().value();
        return now_ns() - begun;
      };
      const auto hands = [&] { return bare.run(requests, under_way, in, rounds, kernel_ns, last); };
      // the first side changes
      const std::int64_t first = i % 2 == 0 ? actors() : hands();
      const std::int64_t second = i % 2 == 0 ? hands() : actors();
      const std::int64_t a = i % 2 == 0 ? first : second;
      const std::int64_t b = i % 2 == 0 ? second : first;
      ratios.push_back(static_cast<double>(a) / static_cast<double>(b));
      ours_ns += a;
      bare_ns += b;
      if (by_actor != last) out.error("the results differ");
    }
  });
  std::ranges::sort(ratios);
  out.items = std::uint64_t{pairs} * requests;
  out.percent((ratios[ratios.size() / 2] - 1) * 100);
  const double n = static_cast<double>(out.items);
  out.detail("least_percent", (ratios.front() - 1) * 100);
  out.detail("most_percent", (ratios.back() - 1) * 100);
  out.detail("request_us", static_cast<double>(ours_ns) / n * 1e-3);
  out.detail("request_by_hand_us", static_cast<double>(bare_ns) / n * 1e-3);
  out.detail("kernel_us", static_cast<double>(kernel_ns) / requests * 1e-3);
  out.lines("the device", device_text(device));
}
