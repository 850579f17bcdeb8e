// Each element goes round in a loop of its own.
#include "streams/common/stretch.hpp"
#include "streams/feedback_ring/element.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t round = args.number("round", 4096);
  const std::uint64_t laps = args.number("laps", 256, 1);
  const std::uint64_t once = args.number("once", 1024);

  seen_ring found;
  const stretch all;
  for (std::uint64_t i = 0; i < round + once; ++i) {
    element e = element_number(i, round, laps);
    while (e.laps != 0) e = third_stage(second_stage(first_stage(e)));
    found.add(e);
  }
  all.into(out, passes(round, laps, once));
  found.check(out, round, laps, once);
}
