// An accelerator: one team that many actors share. They hand over what takes long, and go on.
#include <garrick/patterns/patterns.hpp>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

struct measured {
  int station = 0;
  std::vector<double> values{};
};

// [actor]
class weather : public actor<protocol<result<double>(measured)>> {
 public:
  explicit weather(accelerator acc) : acc_(std::move(acc)) {}
  result<double> on(measured m) {
    auto promise = make_promise<double>();
    result<double> later = promise;
    const auto smooth = [](const double& x) { return std::sqrt(x) * 10; };
    const auto plus = [](double a, double b) { return a + b; };
    request(acc_, reduce(smooth, plus), std::move(m.values))
        .then([promise = std::move(promise)](double sum) mutable { promise.deliver(sum / 1000); });
    return later;
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
  auto in_the_north = system.request(north, measured{1, std::vector<double>(1000, 0.25)});
  auto in_the_south = system.request(south, measured{2, std::vector<double>(1000, 9.0)});
  std::printf("north %.1f, south %.1f\n", in_the_north.get().value(), in_the_south.get().value());
}
