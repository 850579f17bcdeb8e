// oneTBB's pipeline: six filters, the four in the middle parallel.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "data_parallel/ferret/search.hpp"

void bench::run(arguments& args, result& out) {
  const gallery g = make_gallery(args);
  const std::size_t threads = args.count("threads", 2);

  std::vector<answer> found;
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    std::uint32_t next = 0;
    const auto load_next = [&](tbb::flow_control& flow) {
      if (next == g.queries) {
        flow.stop();
        return photo{};
      }
      return load(next++);
    };
    const auto cut = [](photo p) { return segment(std::move(p)); };
    const auto describe = [](segmented s) { return extract(std::move(s)); };
    const auto find = [&](const described& d) { return look_up(g.all, d); };
    const auto choose = [&](const indexed& q) { return rank(g.all, q); };
    const auto collect = [&](const answer& a) { found.push_back(a); };
    constexpr auto one = tbb::filter_mode::serial_out_of_order;
    constexpr auto many = tbb::filter_mode::parallel;
    tbb::parallel_pipeline(16 * threads,
                           tbb::make_filter<void, photo>(one, load_next) &
                               tbb::make_filter<photo, segmented>(many, cut) &
                               tbb::make_filter<segmented, described>(many, describe) &
                               tbb::make_filter<described, indexed>(many, find) &
                               tbb::make_filter<indexed, answer>(many, choose) &
                               tbb::make_filter<answer, void>(one, collect));
  }
  out.seconds = seconds_since(start);
  check_answers(out, g, std::move(found));
}
