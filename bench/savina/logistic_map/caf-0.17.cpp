// A master orders all terms of all series at once. For each term a worker asks its rate computer
// and awaits the answer, for at most `--limit_us` microseconds (0: as long as it takes).
#include <chrono>

#include "common/caf_system.hpp"
#include "savina/logistic_map/series.hpp"

namespace {

using compute_atom = caf::atom_constant<caf::atom("compute")>;
using next_atom = caf::atom_constant<caf::atom("next")>;
using last_atom = caf::atom_constant<caf::atom("last")>;

caf::behavior rate_computer(caf::event_based_actor*, double rate) {
  return {
      [=](compute_atom, double term) { return bench::next_term(rate, term); },
  };
}

struct worker_state {
  double term = 0;
  bool late = false;
};

caf::behavior series_worker(caf::stateful_actor<worker_state>* self, const caf::actor& computer,
                            double start, caf::duration limit) {
  self->state.term = start;
  return {
      [=](next_atom) {
        self->request(computer, limit, compute_atom::value, self->state.term)
            .await([=](double term) { self->state.term = term; },
                   [=](const caf::error&) { self->state.late = true; });
      },
      [=](last_atom) {
        self->send_exit(computer, caf::exit_reason::user_shutdown);
        self->quit();
        return self->state.late ? bench::late_term : self->state.term;
      },
  };
}

void master(caf::event_based_actor* self, std::uint64_t series, std::uint64_t terms,
            caf::duration limit, std::vector<double>* found) {
  found->resize(series);
  std::vector<caf::actor> workers;
  for (std::uint64_t i = 0; i < series; ++i)
    workers.push_back(self->spawn(series_worker, self->spawn(rate_computer, bench::series_rate(i)),
                                  bench::series_start(i), limit));
  for (std::uint64_t t = 0; t < terms; ++t)
    for (const caf::actor& w : workers) self->send(w, next_atom::value);
  for (std::uint64_t i = 0; i < series; ++i)
    self->request(workers[i], caf::infinite, last_atom::value).then([=](double term) {
      (*found)[i] = term;
    });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t terms = args.number("terms", 25'000);
  const std::uint64_t series = args.number("series", 10);
  const std::uint64_t limit_us = args.number("limit_us", 0);
  const caf::duration limit = limit_us == 0 ? caf::duration{caf::infinite}
                                            : caf::duration{std::chrono::microseconds(limit_us)};

  std::vector<double> found;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(master, series, terms, limit, &found);
    system.await_all_actors_done();
  });
  check_series(out, found, series, terms);
}
