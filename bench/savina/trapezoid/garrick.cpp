// A master cuts the range of an integral into one part for each worker and adds their areas.
#include "common/garrick_system.hpp"
#include "savina/trapezoid/integral.hpp"

namespace {

struct part {
  double left;
  double width;
  std::uint64_t pieces;
};
struct area {
  double value;
  std::uint64_t pieces;
};
using integrator = garrick::protocol<area(part)>;

class worker : public garrick::actor<integrator> {
 public:
  area on(part p) const { return {bench::trapezoids(p.left, p.width, p.pieces), p.pieces}; }
};

struct begin {
  std::uint64_t pieces;
  std::uint64_t parts;
};

class master : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  explicit master(area* found) : found_(found) {}

  void on(begin b) {
    const double width =
        (bench::integral_right - bench::integral_left) / static_cast<double>(b.pieces);
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < b.parts; ++i) {
      const std::uint64_t end = b.pieces * (i + 1) / b.parts;
      request(spawn<worker>(),
              part{bench::integral_left + static_cast<double>(first) * width, width, end - first})
          .then([this](area a) {
            found_->value += a.value;
            found_->pieces += a.pieces;
          });
      first = end;
    }
  }

 private:
  area* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t pieces = args.number("pieces", 10'000'000);
  const std::uint64_t parts = args.number("parts", 100);

  area found{};
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<master>(garrick::lent(&found)), begin{pieces, parts});
    static_cast<void>(system.await_all());
  });
  out.items = pieces;
  out.expect("pieces", pieces, found.pieces);
  out.expect("area in millionths", 271'081,
             static_cast<std::uint64_t>(std::llround(found.value * 1e6)));
}
