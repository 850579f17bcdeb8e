// Many pairs of a source and a sink, each a stream of its own, on the same workers. `--pairs n`.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/stages.hpp"

void bench::run(arguments& args, result& out) {
  using namespace garrick::patterns;
  const std::uint64_t pairs = args.count("pairs", 32);
  const std::uint64_t each = args.number("tuples", 64'000'000) / pairs;

  const auto pair = pipeline(seq(source24{0, each}), sum24());
  std::vector<seen24> found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    std::vector<decltype(spawn(system, pair))> streams;
    for (std::uint64_t i = 0; i < pairs; ++i)
      streams.push_back(spawn(system, pair, {.fuse = false}));
    for (const auto& h : streams) found.push_back(system.request(h, join{}).get().value());
  });
  all.into(out, pairs * each, seconds);
  for (const seen24& f : found) f.check(out, each);
}
