// LinearRoad in one loop: each report goes through all operators before the next one comes.
#include "streams/common/stretch.hpp"
#include "streams/linear_road/operators.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint32_t minutes = args.count("minutes", 30);
  const std::uint32_t cars = args.count("cars", 2500);
  const std::uint64_t wanted = args.number("reports", ~std::uint64_t{0});
  pace schedule(args.number("rate", 0));

  const traffic input = make_traffic(minutes, cars);
  const std::uint64_t reports = std::min<std::uint64_t>(wanted, input.reports.size());
  toll_collector found;
  toll_by_position positions;
  average_speed averages;
  last_average_speed last_averages;
  count_vehicles counts;
  const stretch all;
  for (std::uint64_t i = 0; i < reports; ++i) {
    car_report r = input.reports[i];
    r.stamp = schedule.next();
    if (!is_position(r)) continue;
    positions.add(r, [&](const toll_part& p) { found.add(p); });
    averages.add(r, [&](const minute_speed& m) { found.add(toll_by_speed(last_averages.add(m))); });
    counts.add(r, [&](const minute_cars& m) { found.add(toll_by_count(m)); });
  }
  all.into(out, reports);
  found.check(out, input, reports);
}
