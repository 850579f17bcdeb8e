// A map, a reduction and similar patterns: many cores work on one container. The container is
// copied only if it is not moved into the request.
#include <garrick/patterns/patterns.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

int main() {
  actor_system system;
  std::vector<double> samples;
  for (int i = 0; i < 1'000'000; ++i) samples.push_back(i % 1000);

  // [map]
  const auto calibrate = spawn(system, map([](double& x) { x = x * 1.5 + 20; }));
  const double* const where = samples.data();
  samples = system.request(calibrate, std::move(samples)).get().value();
  std::printf("the last sample is %.1f, %s\n", samples.back(),
              samples.data() == where ? "where it was" : "in a copy");
  // [/map]

  // [reduce]
  const auto energy = spawn(system, reduce([](const double& x) { return x * x; },
                                           [](double a, double b) { return a + b; }));
  std::printf("their energy is %.6e\n", system.request(energy, std::move(samples)).get().value());
  // [/reduce]

  // [rounds]
  struct walk {
    std::uint64_t at;
    int steps = 0;
  };
  const auto home = spawn(system, master_worker(
                                      [](walk& w) {
                                        w.at = w.at % 2 == 0 ? w.at / 2 : 3 * w.at + 1;
                                        ++w.steps;
                                      },
                                      [](const walk& w) { return w.at != 1; }));
  const auto walks = system.request(home, std::vector<walk>{{27}, {97}, {871}}).get().value();
  for (const walk& w : walks) std::printf("%d steps home\n", w.steps);
  // [/rounds]
}
