// An actor for each part of the product, without shared memory: it gives copies of the rows and
// columns that its quarters need to four new actors, and copies their answers to its place.
#include "common/caf_system.hpp"
#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

// Some rows of tiles, as many columns, and how many these are.
struct problem {
  std::size_t side;
  bench::tiles rows;
  bench::tiles columns;
};

}  // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(problem)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::tiles)

namespace {

using bench::tiles;

struct multiplier_state {
  tiles product;
  int answers = 0;
  caf::response_promise promise;
};

tiles half_of(const tiles& all, std::size_t which) {
  const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(which) * half;
  return tiles(begin, begin + half);
}

caf::behavior multiplier(caf::stateful_actor<multiplier_state>* self) {
  return {
      [=](const problem& p) -> caf::result<tiles> {
        tiles& product = self->state.product;
        product.resize(p.side * p.side);
        if (p.side == 1) {
          bench::multiply(product[0], p.rows.data(), p.columns.data(), p.rows.size());
          product[0].row = p.rows[0].row;
          product[0].column = p.columns[0].column;
          self->quit();
          return std::move(product);
        }
        self->state.promise = self->make_response_promise();
        const std::size_t half = p.side / 2;
        for (std::size_t quarter = 0; quarter < 4; ++quarter) {
          problem part{half, half_of(p.rows, quarter / 2), half_of(p.columns, quarter % 2)};
          self->request(self->spawn(multiplier), caf::infinite, std::move(part))
              .then([=](const tiles& some) {
                multiplier_state& s = self->state;
                std::copy(some.begin(), some.end(),
                          s.product.begin() + static_cast<std::ptrdiff_t>(quarter * half * half));
                if (++s.answers < 4) return;
                s.promise.deliver(std::move(s.product));
                self->quit();
              });
        }
        return caf::delegated<tiles>();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  problem whole{f.side, f.a, f.b};
  tiles product;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const caf::scoped_actor self(system);
    self->request(system.spawn(multiplier), caf::infinite, std::move(whole))
        .receive([&](tiles& all) { product = std::move(all); },
                 [&](const caf::error& e) { out.error(system.render(e)); });
  });
  check_product(out, f, product);
}
