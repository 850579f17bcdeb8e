// All elements in one loop.
#include "streams/common/stretch.hpp"
#include "streams/farm_grain/work.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t elements = args.number("elements", 50'000);
  const std::uint64_t steps = args.number("steps", 4000);

  seen_elements found;
  const stretch all;
  for (std::uint64_t i = 0; i < elements; ++i) found.add(worked_on(element{i}, steps));
  all.into(out, elements);
  found.check(out, elements, steps);
}
