// An accelerator: one team that many actors share. They hand over what takes long, and go on.
#include <garrick/patterns/patterns.hpp>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [actor]
/// What stations have measured; answered with the mean after calibration.
using readings = std::vector<double>;

class weather : public actor<protocol<result<double>(readings)>> {
 public:
  explicit weather(accelerator acc) : acc_(std::move(acc)) {}
  task<double> on(readings all) {
    const auto n = static_cast<double>(all.size());
    const auto calibrated = [](const double& x) { return std::sqrt(x) * 10; };
    const auto plus = [](double a, double b) { return a + b; };
    const auto sum = reduce(calibrated, plus);
    pending_response<double> asked = request(acc_, sum, std::move(all));
    const result<double> r = co_await std::move(asked);
    if (!r) co_return r.error();
    co_return *r / n;
  }

 private:
  accelerator acc_;
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
  std::printf("north %.1f, south %.1f\n", in_the_north.get().value(), in_the_south.get().value());
}
