// One thread loads and makes a task of each query; the answers are collected one at a time.
#include "data_parallel/ferret/search.hpp"

void bench::run(arguments& args, result& out) {
  const gallery g = make_gallery(args);
  const int threads = static_cast<int>(args.count("threads", 2));

  std::vector<answer> found;
  const std::int64_t start = now_ns();
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (std::uint32_t i = 0; i < g.queries; ++i) {
    photo loaded = load(i);
#pragma omp task firstprivate(loaded) shared(found, g)
    {
      const answer a = rank(g.all, look_up(g.all, extract(segment(std::move(loaded)))));
#pragma omp critical
      found.push_back(a);
    }
  }
  out.seconds = seconds_since(start);
  check_answers(out, g, std::move(found));
}
