// An actor for each part of the product, without shared memory: it gives copies of the rows and
// columns that its quarters need to four new actors, and copies their answers to its place.
#include "common/garrick_system.hpp"
#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

using bench::tiles;
using garrick::result;

// Some rows of tiles, as many columns, and how many these are.
struct problem {
  std::size_t side;
  tiles rows;
  tiles columns;
};

class multiplier : public garrick::actor<garrick::protocol<result<tiles>(problem)>> {
 public:
  result<tiles> on(const problem& p) {
    product_.resize(p.side * p.side);
    if (p.side == 1) {
      bench::multiply(product_[0], p.rows.data(), p.columns.data(), p.rows.size());
      product_[0].row = p.rows[0].row;
      product_[0].column = p.columns[0].column;
      return std::move(product_);
    }
    promise_ = make_promise<tiles>();
    result<tiles> later = promise_;
    const std::size_t half = p.side / 2;
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      problem part{half, half_of(p.rows, quarter / 2), half_of(p.columns, quarter % 2)};
      request(spawn<multiplier>(), std::move(part))
          .then([this, at = quarter * half * half](const tiles& some) {
            std::copy(some.begin(), some.end(), product_.begin() + static_cast<std::ptrdiff_t>(at));
            if (++answers_ == 4) promise_.deliver(std::move(product_));
          });
    }
    return later;
  }

 private:
  static tiles half_of(const tiles& all, std::size_t which) {
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(which) * half;
    return tiles(begin, begin + half);
  }

  tiles product_;
  int answers_ = 0;
  garrick::response_promise<tiles> promise_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  problem whole{f.side, f.a, f.b};
  tiles product;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    product = system.request(system.spawn<multiplier>(), std::move(whole)).get().value();
  });
  check_product(out, f, product);
}
