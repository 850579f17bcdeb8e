// Stages that depend on time: ticks, batches and a limit on the rate. The time is virtual, so the
// example runs at once.
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

int main() {
  testkit::test_system kit(1);
  // [batch]
  // a tick every 10 ms; a batch holds the ticks of 65 ms, but at most ten
  const auto readings = spawn(
      kit, pipeline(ticks(10ms, 25), batch<tick>(10, 65ms), for_each([](std::vector<tick> some) {
                      std::printf("%zu ticks, the last one number %llu\n", some.size(),
                                  static_cast<unsigned long long>(some.back().number));
                    })));
  // [/batch]
  kit.run_for(1s);
  kit.request(readings, join{}).get().value();

  // [throttle]
  const auto slow = spawn(kit, pipeline(counting(0, 10), throttle<int>(2), discard<int>()));
  // [/throttle]
  kit.run_for(4s);
  const stream_report report = kit.request(slow, get_report{}).get().value();
  std::printf("at 2 a second, %llu of 10 have passed after 4 seconds\n",
              static_cast<unsigned long long>(report.stages[1].figures.out));
  send(slow, cancel{});
  kit.run();
}
