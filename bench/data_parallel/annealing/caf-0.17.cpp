// Each worker actor gets its part of the crews in each step, and sends it back to a master, which
// puts together their results. `--workers n`: this many.
#include <memory>

#include "common/caf_system.hpp"
#include "data_parallel/annealing/netlist.hpp"
#include "data_parallel/common/parts.hpp"

namespace {

struct step {
  std::vector<bench::crew> crews;
  bench::progress now;
  std::shared_ptr<const bench::places> all;
};

}  // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<bench::crew>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(step)

namespace {

caf::behavior worker(caf::event_based_actor*, const bench::netlist* n) {
  return {
      [=](step& s) {
        for (bench::crew& c : s.crews) bench::swap_some(*n, *s.all, s.now, c);
        return std::move(s.crews);
      },
  };
}

struct master_state {
  std::vector<bench::crew> done;
};
using master_actor = caf::stateful_actor<master_state>;

void begin(master_actor* self, std::vector<bench::crew> crews,
           const std::vector<caf::actor>& workers, const bench::annealing& a,
           const std::shared_ptr<const bench::places>& all) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const bench::part some = bench::part_of(crews.size(), i, workers.size());
    step s{{}, a.now(), all};
    for (std::size_t c = some.begin; c < some.end; ++c) s.crews.push_back(std::move(crews[c]));
    self->send(workers[i], std::move(s));
  }
}

caf::behavior master(master_actor* self, const bench::netlist* n,
                     const std::vector<caf::actor>& workers, bench::annealing* a,
                     std::shared_ptr<const bench::places>* all) {
  begin(self, bench::make_crews(*n), workers, *a, *all);
  return {
      [=](std::vector<bench::crew>& crews) {
        auto& done = self->state.done;
        for (bench::crew& c : crews) done.push_back(std::move(c));
        if (done.size() != n->crews) return;
        auto next = std::make_shared<bench::places>(n->elements());
        const bool goes_on = a->next_step(done, *next);
        *all = std::move(next);
        if (goes_on) return begin(self, std::exchange(done, {}), workers, *a, *all);
        for (const caf::actor& w : workers) self->send_exit(w, caf::exit_reason::user_shutdown);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const netlist n = make_netlist(args);
  const std::size_t workers = args.count("workers", 2);

  auto all = std::make_shared<const places>(first_places(n));
  annealing a(n);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    std::vector<caf::actor> spawned;
    for (std::size_t i = 0; i < workers; ++i) spawned.push_back(system.spawn(worker, &n));
    system.spawn(master, &n, spawned, &a, &all);
    system.await_all_actors_done();
  });
  check_places(out, n, *all, a.now().step);
}
