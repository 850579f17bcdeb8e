// Three nodes in a ring: a feedback pattern, which ends when nothing is on its way. `--replicas n`:
// of each stage.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/feedback_ring/element.hpp"

namespace {

using namespace garrick::patterns;
using bench::element;
using bench::seen_ring;

struct source {
  std::uint64_t round;
  std::uint64_t laps;
  std::uint64_t end;
  std::uint64_t next = 0;
  bool operator()(emit<element> out) {
    if (next == end) return false;
    out(bench::element_number(next++, round, laps));
    return true;
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t round = args.number("round", 4096);
  const std::uint64_t laps = args.number("laps", 256, 1);
  const std::uint64_t once = args.number("once", 1024);
  const std::size_t replicas = args.count("replicas", 1);

  const auto some = [replicas](auto stage) { return farm(stage).replicas(replicas); };
  const auto ring = feedback(pipeline(some([](element e) { return first_stage(e); }),
                                      some([](element e) { return second_stage(e); }),
                                      some([](element e) { return third_stage(e); })),
                             [](const element& e) { return e.laps != 0; });
  const auto sum = fold(seen_ring(), [](seen_ring s, element e) {
    s.add(e);
    return s;
  });
  seen_ring found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h = spawn(system, pipeline(seq(source{round, laps, round + once}), ring, sum));
    found = system.request(h, join{}).get().value();
  });
  all.into(out, passes(round, laps, once), seconds);
  found.check(out, round, laps, once);
}
