// One actor for each row of the picture; a collector puts the rows together.
#include "actors/mandelbrot/kernel.hpp"
#include "common/garrick_system.hpp"

namespace {

struct go {};
using gallery = garrick::protocol<void(std::uint32_t, bench::row_bits)>;

class row_actor : public garrick::actor<garrick::protocol<void(go)>> {
 public:
  row_actor(bench::picture p, std::uint32_t y, garrick::ref<gallery> collector)
      : picture_(p), y_(y), collector_(std::move(collector)) {}

  void on(go) { send(collector_, y_, bench::mandelbrot_row(picture_, y_)); }

 private:
  bench::picture picture_;
  std::uint32_t y_;
  garrick::ref<gallery> collector_;
};

class collector : public garrick::actor<gallery> {
 public:
  explicit collector(std::vector<bench::row_bits>* rows) : rows_(rows) {}
  void on(std::uint32_t y, bench::row_bits bits) { (*rows_)[y] = std::move(bits); }

 private:
  std::vector<bench::row_bits>* rows_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const picture p{static_cast<std::uint32_t>(args.number("size", 2000)),
                  static_cast<std::uint32_t>(args.number("limit", 500))};
  const std::uint64_t expected = args.number("hash", 0);

  std::vector<row_bits> rows(p.size);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto whole = system.spawn<collector>(garrick::lent(&rows));
      for (std::uint32_t y = 0; y < p.size; ++y) send(system.spawn<row_actor>(p, y, whole), go{});
    }
    static_cast<void>(system.await_all());
  });
  out.items = p.size;
  out.expect("hash", expected, hash_rows(rows));
}
