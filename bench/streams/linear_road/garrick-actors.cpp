// LinearRoad as plain actors. `--replicas n`: of the positions' branch, by expressway and
// direction, and of the operators of segments. With `--rate n` the source sends n reports a second,
// on a thread of its own.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/linear_road/operators.hpp"

namespace {

using bench::car_report;
using bench::last_speed;
using bench::minute_cars;
using bench::minute_speed;
using bench::toll_part;
using garrick::actor;
using garrick::protocol;
using garrick::ref;

template <class T>
using taker = ref<protocol<void(T)>>;

class sink : public actor<protocol<void(toll_part)>> {
 public:
  explicit sink(bench::toll_collector* found) : found_(found) {}
  void on(const toll_part& p) { found_->add(p); }

 private:
  bench::toll_collector* found_;
};

// An operator that calls a function for each of its results, as an actor.
template <class Operator, class Out>
class reports_to : public actor<protocol<void(car_report)>> {
 public:
  explicit reports_to(taker<Out> next) : next_(std::move(next)) {}
  void on(const car_report& r) {
    operator_.add(r, [&](const Out& o) { send(next_, o); });
  }

 private:
  Operator operator_;
  taker<Out> next_;
};
class last_averages : public actor<protocol<void(minute_speed)>> {
 public:
  explicit last_averages(taker<last_speed> next) : next_(std::move(next)) {}
  void on(const minute_speed& m) { send(next_, operator_.add(m)); }

 private:
  bench::last_average_speed operator_;
  taker<last_speed> next_;
};
template <class In, toll_part (*Toll)(const In&)>
class toll : public actor<protocol<void(In)>> {
 public:
  explicit toll(taker<toll_part> next) : next_(std::move(next)) {}
  void on(const In& in) { this->send(next_, Toll(in)); }

 private:
  taker<toll_part> next_;
};

using branch = std::vector<taker<car_report>>;

class dispatcher : public actor<protocol<void(car_report)>> {
 public:
  dispatcher(branch positions, branch speeds, branch counts)
      : positions_(std::move(positions)), speeds_(std::move(speeds)), counts_(std::move(counts)) {}
  void on(const car_report& r) {
    if (!bench::is_position(r)) return;
    send(positions_[r.road() % positions_.size()], r);
    send(speeds_[r.segment() % speeds_.size()], r);
    send(counts_[r.segment() % counts_.size()], r);
  }

 private:
  branch positions_;
  branch speeds_;
  branch counts_;
};

struct produce {
  std::uint64_t reports;
};

class source : public actor<protocol<void(produce)>> {
 public:
  source(std::shared_ptr<const bench::traffic> input, std::uint64_t rate, taker<car_report> next)
      : input_(std::move(input)), pace_(rate), next_(std::move(next)) {}
  void on(produce p) {
    for (std::uint64_t i = 0; i < p.reports; ++i) {
      car_report r = input_->reports[i];
      r.stamp = pace_.next();
      send(next_, r);
    }
  }

 private:
  std::shared_ptr<const bench::traffic> input_;
  bench::pace pace_;
  taker<car_report> next_;
};

taker<car_report> build(garrick::actor_system& system, std::size_t replicas,
                        bench::toll_collector* found) {
  const auto last = system.spawn<sink>(garrick::lent(found));
  const auto by_speed = system.spawn<toll<last_speed, bench::toll_by_speed>>(last);
  const auto by_count = system.spawn<toll<minute_cars, bench::toll_by_count>>(last);
  branch positions;
  branch speeds;
  branch counts;
  for (std::size_t i = 0; i < replicas; ++i) {
    positions.push_back(system.spawn<reports_to<bench::toll_by_position, toll_part>>(last));
    speeds.push_back(system.spawn<reports_to<bench::average_speed, minute_speed>>(
        system.spawn<last_averages>(by_speed)));
    counts.push_back(system.spawn<reports_to<bench::count_vehicles, minute_cars>>(by_count));
  }
  return system.spawn<dispatcher>(std::move(positions), std::move(speeds), std::move(counts));
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t minutes = args.count("minutes", 30);
  const std::uint32_t cars = args.count("cars", 2500);
  const std::uint64_t wanted = args.number("reports", ~std::uint64_t{0});
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const auto input = std::make_shared<const traffic>(make_traffic(minutes, cars));
  const std::uint64_t reports = std::min<std::uint64_t>(wanted, input->reports.size());
  toll_collector found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    garrick::spawn_options o;
    o.detached = rate != 0;
    send(system.spawn<source>(o, input, rate, build(system, replicas, &found)), produce{reports});
    static_cast<void>(system.await_all());
  });
  all.into(out, reports, seconds);
  found.check(out, *input, reports);
}
