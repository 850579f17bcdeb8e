// The thesis' accelerator in CAF: an actor hands over its rows and adds up each that comes back.
#include "data_parallel/accelerator/caf_map.hpp"

namespace {

using bench::row;

void adder(caf::event_based_actor* self, const caf::actor& acc, const bench::matrix* m,
           std::vector<std::uint64_t>* sums) {
  const auto missing = std::make_shared<std::uint64_t>(m->rows);
  for (std::uint64_t i = 0; i < m->rows; ++i)
    self->request(acc, caf::infinite, m->at(i)).then([=](const row& r) {
      (*sums)[i] = bench::sum_of(r);
      if (--*missing == 0) self->send(acc, bench::done_atom::value);
    });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  const std::size_t replicas = args.count("replicas", 2);

  std::vector<std::uint64_t> sums(m.rows);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(adder, system.spawn(map_accelerator, replicas, m.steps), &m, &sums);
    system.await_all_actors_done();
  });
  check(out, m, sums);
}
