// Each worker actor has its part of the options; a master begins the rounds, and gets the parts at
// the end. `--workers n`: this many.
#include "common/caf_system.hpp"
#include "data_parallel/black_scholes/pricing.hpp"
#include "data_parallel/common/parts.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<bench::option>)

namespace {

using bench::option;
using round_atom = caf::atom_constant<caf::atom("round")>;
using finish_atom = caf::atom_constant<caf::atom("finish")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

struct worker_state {
  std::vector<option> options;
};

caf::behavior worker(caf::stateful_actor<worker_state>* self, std::uint64_t number,
                     std::vector<option> options) {
  self->state.options = std::move(options);
  return {
      [=](round_atom, const caf::actor& master) {
        for (option& o : self->state.options) bench::price(o);
        self->send(master, done_atom::value);
      },
      [=](finish_atom, const caf::actor& master) {
        self->send(master, number, std::move(self->state.options));
        self->quit();
      },
  };
}

struct master_state {
  std::size_t done = 0;
  std::size_t finished = 0;
  std::size_t rounds_left = 0;
};

caf::behavior master(caf::stateful_actor<master_state>* self, std::size_t rounds,
                     const std::vector<caf::actor>& workers, std::vector<option>* all) {
  self->state.rounds_left = rounds;
  for (const caf::actor& w : workers) self->send(w, round_atom::value, caf::actor(self));
  return {
      [=](done_atom) {
        if (++self->state.done != workers.size()) return;
        self->state.done = 0;
        const bool more = --self->state.rounds_left != 0;
        for (const caf::actor& w : workers) {
          if (more)
            self->send(w, round_atom::value, caf::actor(self));
          else
            self->send(w, finish_atom::value, caf::actor(self));
        }
      },
      [=](std::uint64_t number, const std::vector<option>& options) {
        const std::size_t begin = bench::part_of(all->size(), number, workers.size()).begin;
        std::copy(options.begin(), options.end(),
                  all->begin() + static_cast<std::ptrdiff_t>(begin));
        if (++self->state.finished == workers.size()) self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);
  const std::size_t workers = args.count("workers", 2);

  std::vector<option> all = make_options(options);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    std::vector<caf::actor> spawned;
    for (std::size_t i = 0; i < workers; ++i) {
      const part mine = part_of(options, i, workers);
      spawned.push_back(system.spawn(
          worker, i, std::vector<option>(all.data() + mine.begin, all.data() + mine.end)));
    }
    system.spawn(master, rounds, spawned, &all);
    system.await_all_actors_done();
  });
  check_prices(out, all, options, rounds);
}
