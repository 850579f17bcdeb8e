// Controllers hand out words, searchers look for them in matrices of their own.
#include <atomic>
#include <memory>

#include "common/caf_system.hpp"
#include "locality/matrix_search/puzzle.hpp"

namespace {

struct searcher_state {
  std::unique_ptr<bench::matrix> cells;
};

caf::behavior searcher(caf::stateful_actor<searcher_state>* self, const caf::actor& owner,
                       std::uint32_t index, std::uint64_t seed, const bench::puzzle_sizes& sizes) {
  return {
      [=](const std::vector<std::uint8_t>& letters) {
        auto& s = self->state;
        if (s.cells == nullptr) s.cells = std::make_unique<bench::matrix>(seed, sizes);
        bench::word w{};
        std::copy(letters.begin(), letters.end(), w.begin());
        self->send(owner, index, s.cells->find(w));
      },
  };
}

struct controller_state {
  std::unique_ptr<bench::puzzles> work;
  std::vector<caf::actor> searchers;
};

caf::behavior controller(caf::stateful_actor<controller_state>* self, std::uint32_t index,
                         const bench::puzzle_sizes& sizes, std::atomic<std::uint64_t>* sum) {
  const auto hand_out = [self](std::uint32_t i) {
    if (const bench::word* w = self->state.work->next(i))
      self->send(self->state.searchers[i], std::vector<std::uint8_t>(w->begin(), w->end()));
  };
  self->state.work = std::make_unique<bench::puzzles>(index, sizes);
  for (std::uint32_t i = 0; i < sizes.searchers; ++i) {
    const std::uint64_t seed = std::uint64_t{index} * sizes.searchers + i;
    self->state.searchers.push_back(
        self->spawn(searcher, caf::actor_cast<caf::actor>(self), i, seed, sizes));
    hand_out(i);
  }
  return {
      [=](std::uint32_t from, std::uint64_t place) {
        if (self->state.work->answered(place)) {
          // order: read after the system's end
          sum->fetch_add(self->state.work->sum(), std::memory_order_relaxed);
          for (const caf::actor& s : self->state.searchers)
            self->send_exit(s, caf::exit_reason::user_shutdown);
          self->quit();
        } else {
          hand_out(from);
        }
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const puzzle_sizes sizes = read_puzzle(args);
  const std::uint64_t findings = args.number("findings", 0);

  std::atomic<std::uint64_t> sum{0};
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    for (std::uint32_t i = 0; i < sizes.controllers; ++i) system.spawn(controller, i, sizes, &sum);
    system.await_all_actors_done();
  });
  out.items = std::uint64_t{sizes.controllers} * sizes.searchers * sizes.searches;
  out.expect("findings", findings, sum.load());
}
