// An actor for each part of the product, with shared memory: all read the factors and write to the
// product itself, through pointers that the message hides from the compiler's check of isolation.
// Only the program's design keeps each actor to its part.
#include "common/garrick_system.hpp"
#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

struct part {
  using garrick_sendable = void;
  const bench::factors* of;
  bench::tile* first;
  std::size_t n;
};
struct multiplied {};
using parent = garrick::protocol<void(multiplied)>;

class multiplier : public garrick::actor<garrick::protocol<void(part), void(multiplied)>> {
 public:
  explicit multiplier(garrick::ref<parent> above) : above_(std::move(above)) {}

  void on(part p) {
    if (p.n == 1) {
      bench::multiply(*p.first, *p.of);
      send(above_, multiplied{});
      return;
    }
    const std::size_t quarter = p.n / 4;
    for (std::size_t i = 0; i < 4; ++i)
      send(spawn<multiplier>(self()), part{p.of, p.first + i * quarter, quarter});
  }
  // With the last answer the last handle to this actor goes, and the actor with it.
  void on(multiplied) {
    if (++answers_ == 4) send(above_, multiplied{});
  }

 private:
  garrick::ref<parent> above_;
  int answers_ = 0;
};

class root : public garrick::actor<parent> {
 public:
  void on(multiplied) {}
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  tiles product = empty_product(f.side);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<multiplier>(system.spawn<root>()), part{&f, product.data(), product.size()});
    static_cast<void>(system.await_all());
  });
  check_product(out, f, product);
}
