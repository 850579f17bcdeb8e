// A farm of nodes. With `--ordered 1` the results come in the order of the elements.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/farm_grain/work.hpp"

namespace {

using namespace garrick::patterns;
using bench::element;
using bench::seen_elements;

struct source {
  std::uint64_t next;
  std::uint64_t end;
  bool operator()(emit<element> out) {
    if (next == end) return false;
    out(element{next++});
    return true;
  }
};

struct worker {
  std::uint64_t steps;
  element operator()(element e) { return bench::worked_on(e, steps); }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t elements = args.number("elements", 50'000);
  const std::uint64_t steps = args.number("steps", 4000);
  const std::size_t replicas = args.count("replicas", 2);
  const bool ordered = args.number("ordered", 0, 0, 1) != 0;

  const auto workers = farm(seq(worker{steps})).replicas(replicas);
  const auto sum = fold(seen_elements(), [](seen_elements s, element e) {
    s.add(e);
    return s;
  });
  seen_elements found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto value_of = [&](auto handle) { return system.request(handle, join{}).get().value(); };
    found =
        ordered
            ? value_of(spawn(system, pipeline(seq(source{0, elements}), workers.ordered(), sum)))
            : value_of(spawn(system, pipeline(seq(source{0, elements}), workers, sum)));
  });
  all.into(out, elements, seconds);
  found.check(out, elements, steps);
}
