// From one slow actor to a pattern: the figures show the slowest stage, which then gets replicas.
#include <garrick/patterns/patterns.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

#include "../support/usage.hpp"

using namespace garrick;
using namespace garrick::patterns;

struct picture {
  int number;
  std::uint32_t pixels;
};

std::uint32_t worked(std::uint32_t seed, int rounds) {
  for (int i = 0; i < rounds; ++i) seed = seed * 1664525u + 1013904223u;
  return seed;
}
picture load(int number) { return {number, worked(static_cast<std::uint32_t>(number), 300)}; }
picture resize(picture p) { return {p.number, worked(p.pixels, 30'000)}; }
picture sharpen(picture p) { return {p.number, worked(p.pixels, 600)}; }

// [actor]
struct get_checksum {};

class darkroom : public actor<protocol<void(int), std::uint32_t(get_checksum)>> {
 public:
  void on(int number) { sum_ += sharpen(resize(load(number))).pixels; }
  std::uint32_t on(get_checksum) const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};
// [/actor]

constexpr const char* usage =
    "41_bottleneck            name the slowest stage, and give it replicas\n"
    "41_bottleneck --report   the same, with the figures of each stage";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  actor_system system;
  const auto room = system.spawn<darkroom>();
  for (int i = 0; i < 2000; ++i) send(room, i);
  const std::uint32_t expected = system.request(room, get_checksum{}).get().value();

  const auto checksum = [] {
    return fold(0u, [](std::uint32_t sum, picture p) { return sum + p.pixels; });
  };

  // [one]
  const auto in_a_row =
      pipeline(counting(0, 2000), seq(load).named("load"), seq(resize).named("resize"),
               seq(sharpen).named("sharpen"), checksum());
  const auto slow = spawn(system, in_a_row);
  const std::uint32_t sum = system.request(slow, join{}).get().value();
  const stream_report report = system.request(slow, get_report{}).get().value();
  std::printf("the bottleneck is %s\n", report.bottleneck()->name.c_str());
  // [/one]
  if (argc > 1) std::fputs(report.to_string().c_str(), stderr);

  // [many]
  const auto side_by_side = pipeline(counting(0, 2000), seq(load).named("load"),
                                     farm(seq(resize).named("resize")),  // as many as workers
                                     seq(sharpen).named("sharpen"), checksum());
  const auto fast = spawn(system, side_by_side);
  const std::uint32_t again = system.request(fast, join{}).get().value();
  // [/many]
  std::printf("three times the same result: %s\n",
              sum == expected && again == expected ? "yes" : "no");
}
