// One actor for each row of the picture; a collector puts the rows together.
#include "actors/mandelbrot/kernel.hpp"
#include "common/caf_system.hpp"

namespace {

using go_atom = caf::atom_constant<caf::atom("go")>;

caf::behavior row_actor(caf::event_based_actor* self, bench::picture p, std::uint32_t y,
                        const caf::actor& collector) {
  return {
      [=](go_atom) {
        self->send(collector, y, bench::mandelbrot_row(p, y));
        self->quit();
      },
  };
}

caf::behavior collector(caf::event_based_actor* self, std::vector<bench::row_bits>* rows) {
  return {
      [=, left = rows->size()](std::uint32_t y, bench::row_bits& bits) mutable {
        (*rows)[y] = std::move(bits);
        if (--left == 0) self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const picture p{static_cast<std::uint32_t>(args.number("size", 2000)),
                  static_cast<std::uint32_t>(args.number("limit", 500))};
  const std::uint64_t expected = args.number("hash", 0);

  std::vector<row_bits> rows(p.size);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const caf::actor sink = system.spawn(collector, &rows);
    for (std::uint32_t y = 0; y < p.size; ++y)
      caf::anon_send(system.spawn<caf::lazy_init>(row_actor, p, y, sink), go_atom::value);
    system.await_all_actors_done();
  });
  out.items = p.size;
  out.expect("hash", expected, hash_rows(rows));
}
