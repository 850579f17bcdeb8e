// Many pairs of a source and a sink, each a stream of its own, on the same workers. `--pairs n`.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

namespace {

using namespace garrick::patterns;
using bench::seen24;
using bench::tuple24;

struct source {
  std::uint64_t next;
  std::uint64_t end;
  bool operator()(emit<tuple24> out) {
    if (next == end) return false;
    out(bench::tuple_number(next++));
    return true;
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t pairs = args.count("pairs", 32);
  const std::uint64_t each = args.number("tuples", 64'000'000) / pairs;

  const auto sum = fold(seen24(), [](seen24 s, tuple24 t) {
    s.add(t);
    return s;
  });
  const auto pair = pipeline(seq(source{0, each}), sum);
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
