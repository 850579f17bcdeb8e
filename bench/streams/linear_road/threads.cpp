// LinearRoad with a thread for each operator, and a ring for each pair of neighbours. `--ring n`:
// tuples of a batch; `--replicas n`: of the positions' branch and of the operators of segments.
// With `--rate n` the source puts out n reports a second, and shows each at once.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/linear_road/operators.hpp"

namespace {

using bench::batched_ring;
using bench::car_report;
using bench::toll_part;

template <class T>
using rings = std::vector<std::unique_ptr<batched_ring<T>>>;

template <class T>
rings<T> make_rings(std::size_t n, std::size_t batch) {
  rings<T> made;
  for (std::size_t i = 0; i < n; ++i) made.push_back(std::make_unique<batched_ring<T>>(batch));
  return made;
}

// Calls f(tuple, out) for each tuple until the end of `in`.
template <class In, class Out, class F>
std::thread stage(batched_ring<In>& in, batched_ring<Out>& out, F f) {
  return std::thread([&in, &out, f]() mutable {
    drain(in, [&](const In& t) { f(t, out); }, [&] { out.flush(); });
    out.close();
  });
}
// An operator that calls a function for each of its results.
template <class Operator>
auto calling() {
  return [o = Operator()](const car_report& r, auto& out) mutable {
    o.add(r, [&](const auto& result) { out.push(result); });
  };
}
// One thread for several rings: the tolls.
template <class In, class F>
std::thread toll(const rings<In>& in, batched_ring<toll_part>& out, F f) {
  return std::thread([&in, &out, f] {
    drain_all(in, [&](const In& t) { out.push(f(t)); }, [&] { out.flush(); });
    out.close();
  });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t minutes = args.count("minutes", 30);
  const std::uint32_t cars = args.count("cars", 2500);
  const std::uint64_t wanted = args.number("reports", ~std::uint64_t{0});
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);
  const std::size_t batch = args.count("ring", 256);

  const traffic input = make_traffic(minutes, cars);
  const std::uint64_t reports = std::min<std::uint64_t>(wanted, input.reports.size());
  toll_collector found;
  const stretch all;
  {
    batched_ring<car_report> first(batch);
    const auto to_positions = make_rings<car_report>(replicas, batch);
    const auto to_speeds = make_rings<car_report>(replicas, batch);
    const auto to_counts = make_rings<car_report>(replicas, batch);
    const auto to_last = make_rings<minute_speed>(replicas, batch);
    const auto to_toll_by_speed = make_rings<last_speed>(replicas, batch);
    const auto to_toll_by_count = make_rings<minute_cars>(replicas, batch);
    const auto to_sink = make_rings<toll_part>(replicas + 2, batch);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < replicas; ++i) {
      threads.push_back(stage(*to_positions[i], *to_sink[i], calling<toll_by_position>()));
      threads.push_back(stage(*to_speeds[i], *to_last[i], calling<average_speed>()));
      threads.push_back(stage(*to_last[i], *to_toll_by_speed[i],
                              [o = last_average_speed()](const minute_speed& m, auto& to) mutable {
                                to.push(o.add(m));
                              }));
      threads.push_back(stage(*to_counts[i], *to_toll_by_count[i], calling<count_vehicles>()));
    }
    threads.push_back(toll(to_toll_by_speed, *to_sink[replicas], toll_by_speed));
    threads.push_back(toll(to_toll_by_count, *to_sink[replicas + 1], toll_by_count));
    threads.emplace_back([&] {
      pace schedule(rate);
      for (std::uint64_t i = 0; i < reports; ++i) {
        car_report r = input.reports[i];
        r.stamp = schedule.next();
        first.push(r);
        if (rate != 0) first.flush();
      }
      first.close();
    });
    threads.emplace_back([&] {
      const auto all_rings = [&](auto&& f) {
        for (const auto* some : {&to_positions, &to_speeds, &to_counts})
          for (const auto& r : *some) f(*r);
      };
      drain(
          first,
          [&](const car_report& r) {
            if (!is_position(r)) return;
            to_positions[r.road() % replicas]->push(r);
            to_speeds[r.segment() % replicas]->push(r);
            to_counts[r.segment() % replicas]->push(r);
          },
          [&] { all_rings([](auto& r) { r.flush(); }); });
      all_rings([](auto& r) { r.close(); });
    });
    drain_all(to_sink, [&](const toll_part& p) { found.add(p); });
    for (std::thread& t : threads) t.join();
  }
  all.into(out, reports);
  found.check(out, input, reports);
}
