// Savina 07: each actor pings a neighbour chosen at random and waits for its pong, again and again;
// a sink ends all when all are done.
#include "common/caf_system.hpp"
#include "common/savina.hpp"

namespace {

using meet_atom = caf::atom_constant<caf::atom("meet")>;
using begin_atom = caf::atom_constant<caf::atom("begin")>;
using ping_atom = caf::atom_constant<caf::atom("ping")>;
using pong_atom = caf::atom_constant<caf::atom("pong")>;
using finish_atom = caf::atom_constant<caf::atom("finish")>;
using done_atom = caf::atom_constant<caf::atom("done")>;
using actors = std::vector<caf::actor>;

struct tally {
  std::uint64_t answered = 0;
  std::uint64_t expected = 0;  // pongs that came from the neighbour that had been pinged
};

struct worker_state {
  actors neighbours;
  std::uint32_t pinged = 0;
  std::uint64_t left = 0;
  bench::savina::random_numbers random;
  tally counts;
};

caf::behavior worker(caf::stateful_actor<worker_state>* self, std::uint32_t id, std::uint64_t pings,
                     const caf::actor& sink, tally* seen) {
  self->state.left = pings;
  self->state.random = bench::savina::random_numbers(id);
  const auto next = [=] {
    auto& state = self->state;
    if (state.left == 0) {
      self->send(sink, done_atom::value);
      return;
    }
    --state.left;
    state.pinged = state.random.below(static_cast<std::uint32_t>(state.neighbours.size()));
    self->send(state.neighbours[state.pinged], ping_atom::value, id);
  };
  return {
      [=](ping_atom, std::uint32_t from) {
        ++self->state.counts.answered;
        self->send(self->state.neighbours[from], pong_atom::value, id);
      },
      [=](pong_atom, std::uint32_t from) {
        if (from == self->state.pinged) ++self->state.counts.expected;
        next();
      },
      [=](meet_atom, const actors& neighbours) { self->state.neighbours = neighbours; },
      [=](begin_atom) { next(); },
      [=](finish_atom) {
        *seen = self->state.counts;
        self->quit();
      },
  };
}

struct sink_state {
  actors workers;
  std::size_t done = 0;
};

caf::behavior sink(caf::stateful_actor<sink_state>* self) {
  return {
      [=](meet_atom, const actors& workers) { self->state.workers = workers; },
      [=](done_atom) {
        if (++self->state.done < self->state.workers.size()) return;
        for (const caf::actor& w : self->state.workers) self->send(w, finish_atom::value);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t pings = args.number("pings", 20'000);
  const std::uint64_t workers = args.number("workers", 120);

  std::vector<tally> seen(workers);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const auto end = system.spawn(sink);
    actors all;
    for (std::uint32_t i = 0; i < workers; ++i)
      all.push_back(system.spawn(worker, i, pings, end, &seen[i]));
    caf::anon_send(end, meet_atom::value, all);
    for (const caf::actor& w : all) caf::anon_send(w, meet_atom::value, all);
    for (const caf::actor& w : all) caf::anon_send(w, begin_atom::value);
    system.await_all_actors_done();
  });
  out.items = pings * workers;
  tally total;
  for (const tally& t : seen) {
    total.answered += t.answered;
    total.expected += t.expected;
  }
  out.expect("pings answered", pings * workers, total.answered);
  out.expect("pongs from the pinged worker", pings * workers, total.expected);
}
