// Divide and conquer in place: the product is moved to the pattern and back; the factors are bound
// to it, shared and constant.
#include <garrick/patterns/patterns.hpp>

#include <memory>
#include <span>

#include "common/garrick_system.hpp"
#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

using bench::tile;
using garrick::patterns::parts;
using shared_factors = std::shared_ptr<const bench::factors>;

void divide(std::span<tile> all, parts& out) {
  const std::size_t quarter = all.size() / 4;
  for (std::size_t i = 0; i < 4; ++i) out.add(i * quarter, (i + 1) * quarter);
}
void merge(std::span<tile>, const parts&) {}
void multiply_tile(const shared_factors& f, std::span<tile> one) { bench::multiply(one[0], *f); }
bool is_tile(std::span<const tile> some) { return some.size() == 1; }

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto f = std::make_shared<const factors>(matrix_input(args.number("size", 1024)));
  tiles product = empty_product(f->side);
  const auto multiplication = garrick::patterns::divide_conquer(
      divide, merge, garrick::patterns::bind(multiply_tile, f), is_tile);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    product = system.request(spawn(system, multiplication), std::move(product)).get().value();
  });
  check_product(out, *f, product);
}
