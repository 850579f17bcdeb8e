// A chain of 64 nodes on the workers, or with `--short 1` one of two: fusion is off. The figure is
// hops from node to node.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/stages.hpp"

namespace {

using namespace garrick::patterns;
using bench::seen24;
using bench::tuple24;

template <std::size_t Nodes>
auto forwarders() {
  if constexpr (Nodes == 1)
    return seq([](tuple24 t) { return t; });
  else
    return pipeline(forwarders<Nodes / 2>(), forwarders<Nodes - Nodes / 2>());
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const bool is_short = args.number("short", 0, 0, 1) != 0;
  const std::uint64_t hops = is_short ? 1 : 63;
  const std::uint64_t tuples = args.number("hops", 63'000'000) / hops;

  const auto begin = seq(source24{0, tuples});
  seen24 found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto value_of = [&](const auto& p) {
      auto h = spawn(system, p, {.fuse = false});
      return system.request(h, join{}).get().value();
    };
    found = is_short ? value_of(pipeline(begin, sum24()))
                     : value_of(pipeline(begin, forwarders<62>(), sum24()));
  });
  all.into(out, tuples * hops, seconds);
  found.check(out, tuples);
}
