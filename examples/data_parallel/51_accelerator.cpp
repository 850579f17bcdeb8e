// An accelerator: a team that many actors share. They give it long work, and answer short questions
// while it works.
#include <garrick/patterns/patterns.hpp>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

// [actor]
/// The measurements of a station; the answer is their mean after calibration.
using readings = std::vector<double>;
/// Asks for the number of measurements: a short question.
struct get_count {};

class weather : public actor<protocol<result<double>(readings), std::size_t(get_count)>> {
 public:
  explicit weather(accelerator acc) : acc_(std::move(acc)) {}
  void on_start() { interleave(true); }  // answers short questions while a coroutine waits

  task<double> on(readings all) {
    const std::size_t n = all.size();
    count_ += n;
    const auto calibrated = [](const double& x) { return std::sqrt(x) * 10; };
    const auto plus = [](double a, double b) { return a + b; };
    const auto sum = reduce(calibrated, plus);
    // Two statements: with GCC 12 `co_await request(acc_, …)` does not compile, see guide 6.
    pending_response<double> asked = request(acc_, sum, std::move(all), 10s);
    const result<double> r = co_await std::move(asked);
    if (!r) co_return r.error();
    co_return *r / static_cast<double>(n);
  }
  std::size_t on(get_count) { return count_; }

 private:
  accelerator acc_;
  std::size_t count_ = 0;
};
// [/actor]

int main() {
  actor_system system;
  // [share]
  const accelerator acc = spawn(system, accelerator_team().replicas(2));
  const auto north = system.spawn<weather>(acc);
  const auto south = system.spawn<weather>(acc);
  // [/share]
  auto in_the_north = system.request(north, readings(1'000'000, 0.25));
  auto in_the_south = system.request(south, readings(1'000'000, 9.0));
  // answered at once, before the measurements are done
  std::printf("%zu measured in the south\n", system.request(south, get_count{}).get().value());
  std::printf("north %.1f, south %.1f\n", in_the_north.get().value(), in_the_south.get().value());
}
