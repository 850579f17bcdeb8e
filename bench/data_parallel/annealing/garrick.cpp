// A map over the crews, asked once for each step. Each crew holds the places of the elements at the
// start of the step, which no thread changes. `--chunk n`: a free worker takes the next n crews.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/annealing/netlist.hpp"

namespace {

using namespace garrick::patterns;

struct crew_in_step {
  bench::crew crew{};
  bench::progress now{};
  std::shared_ptr<const bench::places> all{};
};

void work(const std::shared_ptr<const bench::netlist>& n, crew_in_step& c) {
  bench::swap_some(*n, *c.all, c.now, c.crew);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto n = std::make_shared<const netlist>(make_netlist(args));
  const std::size_t chunk = args.number("chunk", 0);

  auto all = std::make_shared<const places>(first_places(*n));
  annealing a(*n);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto swaps = map(garrick::patterns::bind(work, n));
    const auto swapping = spawn(system, chunk == 0 ? swaps : swaps.dynamic(chunk));
    std::vector<crew_in_step> crews;
    for (crew& c : make_crews(*n)) crews.push_back({std::move(c)});
    for (bool goes_on = true; goes_on;) {
      for (crew_in_step& c : crews) c.now = a.now(), c.all = all;
      crews = system.request(swapping, std::move(crews)).get().value();
      auto next = std::make_shared<places>(n->elements());
      goes_on =
          a.next_step(crews, *next, [](const crew_in_step& c) -> const crew& { return c.crew; });
      all = std::move(next);
    }
  });
  check_places(out, *n, *all, a.now().step);
}
