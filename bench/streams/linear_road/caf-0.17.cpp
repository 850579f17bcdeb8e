// LinearRoad as actors. The source sends `--chunk n` reports and then a message to itself, so that
// it shares its thread with the others. `--replicas n`: of the positions' branch, by expressway and
// direction, and of the operators of segments. With `--rate n` the source sends n reports a second,
// on a thread of its own.
#include "common/caf_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/linear_road/operators.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::car_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::minute_speed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::last_speed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::minute_cars)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::toll_part)

using next_atom = caf::atom_constant<caf::atom("next")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

namespace {

using bench::car_report;
using bench::last_speed;
using bench::minute_cars;
using bench::minute_speed;
using bench::toll_part;

// The end, as it comes from `feeders` actors, is handed on.
auto end_after(caf::event_based_actor* self, std::size_t feeders, std::vector<caf::actor> next) {
  return [self, open = feeders, next = std::move(next)](done_atom) mutable {
    if (--open != 0) return;
    for (const caf::actor& n : next) self->send(n, done_atom::value);
    self->quit();
  };
}

caf::behavior sink(caf::event_based_actor* self, std::size_t feeders,
                   bench::toll_collector* found) {
  return {[=](const toll_part& p) { found->add(p); }, end_after(self, feeders, {})};
}

// An operator that calls a function for each of its results.
template <class Operator>
caf::behavior reports_to(caf::stateful_actor<Operator>* self, const caf::actor& next) {
  return {
      [=](const car_report& r) {
        self->state.add(r, [&](const auto& result) { self->send(next, result); });
      },
      end_after(self, 1, {next}),
  };
}

caf::behavior last_averages(caf::stateful_actor<bench::last_average_speed>* self,
                            const caf::actor& next) {
  return {
      [=](const minute_speed& m) { self->send(next, self->state.add(m)); },
      end_after(self, 1, {next}),
  };
}

template <class In, toll_part (*Toll)(const In&)>
caf::behavior toll(caf::event_based_actor* self, std::size_t feeders, const caf::actor& next) {
  return {
      [=](const In& in) { self->send(next, Toll(in)); },
      end_after(self, feeders, {next}),
  };
}

struct branches {
  std::vector<caf::actor> positions;
  std::vector<caf::actor> speeds;
  std::vector<caf::actor> counts;
};

caf::behavior dispatcher(caf::event_based_actor* self, const branches& to) {
  std::vector<caf::actor> all = to.positions;
  all.insert(all.end(), to.speeds.begin(), to.speeds.end());
  all.insert(all.end(), to.counts.begin(), to.counts.end());
  return {
      [=](const car_report& r) {
        if (!bench::is_position(r)) return;
        self->send(to.positions[r.road() % to.positions.size()], r);
        self->send(to.speeds[r.segment() % to.speeds.size()], r);
        self->send(to.counts[r.segment() % to.counts.size()], r);
      },
      end_after(self, 1, all),
  };
}

caf::behavior source(caf::event_based_actor* self, const bench::traffic* input,
                     std::uint64_t reports, std::uint64_t rate, std::uint64_t chunk,
                     const caf::actor& next) {
  self->send(self, next_atom::value);
  return {
      [=, sent = std::uint64_t{0}, pace = bench::pace(rate)](next_atom) mutable {
        for (std::uint64_t i = 0; i < chunk && sent < reports; ++i, ++sent) {
          car_report r = input->reports[sent];
          r.stamp = pace.next();
          self->send(next, r);
        }
        if (sent != reports) return self->send(self, next_atom::value);
        self->send(next, done_atom::value);
        self->quit();
      },
  };
}

caf::actor build(caf::actor_system& system, std::size_t replicas, bench::toll_collector* found) {
  const caf::actor last = system.spawn(sink, replicas + 2, found);
  const caf::actor by_speed = system.spawn(toll<last_speed, bench::toll_by_speed>, replicas, last);
  const caf::actor by_count = system.spawn(toll<minute_cars, bench::toll_by_count>, replicas, last);
  branches to;
  for (std::size_t i = 0; i < replicas; ++i) {
    to.positions.push_back(system.spawn(reports_to<bench::toll_by_position>, last));
    to.speeds.push_back(
        system.spawn(reports_to<bench::average_speed>, system.spawn(last_averages, by_speed)));
    to.counts.push_back(system.spawn(reports_to<bench::count_vehicles>, by_count));
  }
  return system.spawn(dispatcher, to);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t minutes = args.count("minutes", 30);
  const std::uint32_t cars = args.count("cars", 2500);
  const std::uint64_t wanted = args.number("reports", ~std::uint64_t{0});
  const std::uint64_t rate = args.number("rate", 0);
  const std::uint64_t chunk = args.count("chunk", 1000);
  const std::size_t replicas = args.count("replicas", 1);

  const traffic input = make_traffic(minutes, cars);
  const std::uint64_t reports = std::min<std::uint64_t>(wanted, input.reports.size());
  toll_collector found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const caf::actor first = build(system, replicas, &found);
      if (rate == 0)
        system.spawn(source, &input, reports, rate, chunk, first);
      else
        system.spawn<caf::detached>(source, &input, reports, rate, chunk, first);
    }
    system.await_all_actors_done();
  });
  all.into(out, reports, seconds);
  found.check(out, input, reports);
}
