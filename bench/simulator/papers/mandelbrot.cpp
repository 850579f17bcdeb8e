
#include <algorithm>

#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

struct collector final : model_actor {
  std::uint64_t rows = 0;
  void on(turn&, const message&) override { ++rows; }
};

struct row final : model_actor {
  double ns = 0;
  collector* whole = nullptr;
  void on(turn& t, const message& m) override {
    t.work(ns);
    t.send(*whole, m.value);
  }
};

}  // namespace

mandelbrot mandelbrot::of(std::uint32_t size, std::uint32_t limit, double iteration_ns) {
  constexpr std::uint32_t most_samples = 128;  // of a row: its time is smooth enough
  const std::uint32_t samples = std::min(size, most_samples);
  mandelbrot result;
  for (std::uint32_t y = 0; y < size; ++y) {
    std::uint64_t iterations = 0;
    const double ci = 2.0 * y / size - 1;
    for (std::uint32_t x = 0; x < samples; ++x) {
      const double cr = 2.0 * x / samples - 1.5;
      double zr = 0;
      double zi = 0;
      std::uint32_t i = 0;
      for (; i < limit && zr * zr + zi * zi <= 4; ++i) {
        const double next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
      }
      iterations += i;
    }
    result.row_ns.push_back(static_cast<double>(iterations) * size / samples * iteration_ns);
  }
  return result;
}

outcome run(const mandelbrot& program, simulation_options on) {
  simulation s(std::move(on));
  auto& whole = s.spawn<collector>();
  std::vector<row*> rows;
  for (const double ns : program.row_ns) {
    rows.push_back(&s.spawn<row>());
    rows.back()->ns = ns;
    rows.back()->whole = &whole;
  }
  s.outside([&](outside& o) {
    for (row* r : rows) {
      o.work(s.options().prices.spawn);
      o.send(*r, 0);
    }
  });
  outcome result = s.run();
  if (result.error.empty() && whole.rows != rows.size()) result.error = "rows are missing";
  return result;
}

}  // namespace bench::simulator
