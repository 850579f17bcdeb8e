// LinearRoad as nodes: three branches in parallel. `--replicas n`: of the positions' branch, by
// expressway and direction, and of the operators of segments. With `--rate n` the source puts out n
// reports a second, on a thread of its own. The report has each operator's counters, and the
// operator that holds the others up.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/linear_road/operators.hpp"

namespace {

using namespace garrick::patterns;
using bench::car_report;
using bench::last_speed;
using bench::minute_cars;
using bench::minute_speed;
using bench::toll_part;

struct source {
  std::shared_ptr<const bench::traffic> input;
  std::uint64_t end;
  bench::pace pace;
  std::uint64_t next = 0;
  bool operator()(emit<car_report> out) {
    if (next == end) return false;
    car_report r = input->reports[next++];
    r.stamp = pace.next();
    out(r);
    return true;
  }
};

// An operator that calls a function for each of its results, as a stage.
template <class Operator, class Out>
class reports_to {
 public:
  void consume(car_report r, emit<Out> out) {
    operator_.add(r, [&](const Out& o) { out(o); });
  }

 private:
  Operator operator_;
};
class last_averages {
 public:
  last_speed consume(minute_speed m) { return operator_.add(m); }

 private:
  bench::last_average_speed operator_;
};

class sink {
 public:
  explicit sink(bench::toll_collector* found) : found_(found) {}
  void consume(toll_part p) { found_->add(p); }

 private:
  bench::toll_collector* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t minutes = args.count("minutes", 30);
  const std::uint32_t cars = args.count("cars", 2500);
  const std::uint64_t wanted = args.number("reports", ~std::uint64_t{0});
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const auto input = std::make_shared<const traffic>(make_traffic(minutes, cars));
  const std::uint64_t reports = std::min<std::uint64_t>(wanted, input->reports.size());
  const auto by_segment = [](const car_report& r) { return r.segment(); };
  const auto begin = seq(source{input, reports, pace(rate)}).named("source");
  const auto dispatcher = filter([](const car_report& r) { return is_position(r); });
  const auto positions =
      farm(seq<reports_to<toll_by_position, toll_part>>().named("toll by position"))
          .replicas(replicas)
          .by_key([](const car_report& r) { return r.road(); });
  const auto speeds =
      pipeline(farm(pipeline(seq<reports_to<average_speed, minute_speed>>().named("average speed"),
                             seq<last_averages>().named("last average speed")))
                   .replicas(replicas)
                   .by_key(by_segment),
               seq([](last_speed s) { return toll_by_speed(s); }).named("toll by speed"));
  const auto counts =
      pipeline(farm(seq<reports_to<count_vehicles, minute_cars>>().named("count vehicles"))
                   .replicas(replicas)
                   .by_key(by_segment),
               seq([](minute_cars m) { return toll_by_count(m); }).named("toll by count"));
  toll_collector found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h =
        spawn(system, pipeline(rate == 0 ? begin : begin.own_thread(),
                               dispatcher.named("dispatcher"), parallel(positions, speeds, counts),
                               seq<sink>(garrick::lent(&found)).named("sink")));
    system.request(h, join{}).get().value();
    const stream_report r = system.request(h, get_report{}).get().value();
    out.lines("The work of the operators of linear_road", r.by_stage().to_string());
  });
  all.into(out, reports, seconds);
  found.check(out, *input, reports);
}
