// One query after the other.
#include "data_parallel/ferret/search.hpp"

void bench::run(arguments& args, result& out) {
  const gallery g = make_gallery(args);

  std::vector<answer> found;
  const std::int64_t start = now_ns();
  for (std::uint32_t i = 0; i < g.queries; ++i)
    found.push_back(rank(g.all, look_up(g.all, extract(segment(load(i))))));
  out.seconds = seconds_since(start);
  check_answers(out, g, std::move(found));
}
