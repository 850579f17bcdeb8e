// A master orders all terms of all series at once. For each term a worker asks its rate computer,
// and leaves everything but the answer in its mailbox by changing its behavior, for at most
// `--limit_us` microseconds (0: as long as it takes).
#include <chrono>

#include "common/caf_system.hpp"
#include "savina/logistic_map/series.hpp"

namespace {

using compute_atom = caf::atom_constant<caf::atom("compute")>;
using computed_atom = caf::atom_constant<caf::atom("computed")>;
using next_atom = caf::atom_constant<caf::atom("next")>;
using last_atom = caf::atom_constant<caf::atom("last")>;

caf::behavior rate_computer(caf::event_based_actor* self, double rate) {
  return {
      [=](compute_atom, double term, const caf::actor& worker) {
        self->send(worker, computed_atom::value, bench::next_term(rate, term));
      },
  };
}

struct worker_state {
  double term = 0;
  bool late = false;
  caf::behavior waiting;
};

caf::behavior series_worker(caf::stateful_actor<worker_state>* self, const caf::actor& computer,
                            double start, std::chrono::microseconds limit) {
  self->set_default_handler(caf::skip);
  self->state.term = start;
  const auto answered = [=](computed_atom, double term) {
    self->state.term = term;
    self->unbecome();
  };
  const auto late = [=] {
    self->state.late = true;
    self->unbecome();
  };
  if (limit == std::chrono::microseconds(0))
    self->state.waiting.assign(answered);
  else
    self->state.waiting.assign(answered, caf::after(limit) >> late);
  return {
      [=](next_atom) {
        self->send(computer, compute_atom::value, self->state.term,
                   caf::actor_cast<caf::actor>(self));
        self->become(caf::keep_behavior, self->state.waiting);
      },
      [=](last_atom) {
        self->send_exit(computer, caf::exit_reason::user_shutdown);
        self->quit();
        return self->state.late ? bench::late_term : self->state.term;
      },
  };
}

void master(caf::event_based_actor* self, std::uint64_t series, std::uint64_t terms,
            std::chrono::microseconds limit, std::vector<double>* found) {
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
  const std::chrono::microseconds limit(args.number("limit_us", 0));

  std::vector<double> found;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(master, series, terms, limit, &found);
    system.await_all_actors_done();
  });
  check_series(out, found, series, terms);
}
