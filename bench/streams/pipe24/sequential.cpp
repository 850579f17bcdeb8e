// The same tuples in one loop: each is made, handed on and added up, without a queue.
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 50'000'000);

  seen24 found;
  const stretch all;
  for (std::uint64_t i = 0; i < tuples; ++i) {
    tuple24 made = tuple_number(i);
    keep(made.a);
    keep(made.b);
    keep(made.c);
    found.add(made);
  }
  all.into(out, tuples);
  found.check(out, tuples);
}
