// LinearRoad as oneTBB's pipeline, which has no branches: a token is a block of reports that one
// filter after the other works on, each with a branch's operators.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "streams/common/stretch.hpp"
#include "streams/linear_road/operators.hpp"

namespace {

struct block {
  std::vector<bench::car_report> reports;
  std::vector<bench::toll_part> parts;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t minutes = args.count("minutes", 30);
  const std::uint32_t cars = args.count("cars", 2500);
  const std::uint64_t wanted = args.number("reports", ~std::uint64_t{0});
  const std::size_t size = args.count("block", 1024);
  const std::size_t workers = args.count("threads", 2);

  const traffic input = make_traffic(minutes, cars);
  const std::uint64_t reports = std::min<std::uint64_t>(wanted, input.reports.size());
  toll_collector found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    std::uint64_t next = 0;
    toll_by_position positions;
    average_speed averages;
    last_average_speed last_averages;
    count_vehicles counts;
    const auto read = [&](tbb::flow_control& flow) {
      block b;
      if (next == reports) {
        flow.stop();
        return b;
      }
      b.reports.reserve(size);
      const std::uint64_t end = std::min(reports, next + size);
      for (; next < end; ++next)
        if (is_position(input.reports[next])) b.reports.push_back(input.reports[next]);
      return b;
    };
    const auto by_position = [&](block b) {
      for (const car_report& r : b.reports)
        positions.add(r, [&](const toll_part& p) { b.parts.push_back(p); });
      return b;
    };
    const auto by_speed = [&](block b) {
      for (const car_report& r : b.reports)
        averages.add(r, [&](const minute_speed& m) {
          b.parts.push_back(toll_by_speed(last_averages.add(m)));
        });
      return b;
    };
    const auto by_count = [&](block b) {
      for (const car_report& r : b.reports)
        counts.add(r, [&](const minute_cars& m) { b.parts.push_back(toll_by_count(m)); });
      return b;
    };
    const auto collect = [&](const block& b) {
      for (const toll_part& p : b.parts) found.add(p);
    };
    constexpr auto in_order = tbb::filter_mode::serial_in_order;
    tbb::parallel_pipeline(4 * workers, tbb::make_filter<void, block>(in_order, read) &
                                            tbb::make_filter<block, block>(in_order, by_position) &
                                            tbb::make_filter<block, block>(in_order, by_speed) &
                                            tbb::make_filter<block, block>(in_order, by_count) &
                                            tbb::make_filter<block, void>(in_order, collect));
  }
  all.into(out, reports);
  found.check(out, input, reports);
}
