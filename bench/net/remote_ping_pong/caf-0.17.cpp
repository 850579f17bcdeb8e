// The same with CAF's middleman.
#include <caf/io/all.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/caf_system.hpp"
#include "net/common/served.hpp"

namespace {

struct config : bench::caf_config {
  explicit config(bench::arguments& args) : caf_config(args) { load<caf::io::middleman>(); }
};

caf::behavior ponger(caf::event_based_actor*) {
  return {[](std::uint64_t number) { return number + 1; }};
}

struct pinger_state {
  std::int64_t begin = 0;
};

caf::behavior pinger(caf::stateful_actor<pinger_state>* self, const caf::actor& to,
                     std::uint64_t trips, std::vector<std::int64_t>* samples, std::uint64_t* sum) {
  return {[=](caf::ok_atom) {
    self->state.begin = bench::now_ns();
    self->request(to, caf::infinite, std::uint64_t{samples->size()})
        .then([=](std::uint64_t answer) {
          samples->push_back(bench::now_ns() - self->state.begin);
          *sum += answer;
          if (samples->size() == trips) return self->quit();
          self->send(self, caf::ok_atom::value);
        });
  }};
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 20'000);
  config settings(args);
  args.reject_unknown();
  const served server([&](auto tell) {
    static caf::actor_system system(settings);
    if (const auto port = system.middleman().publish(system.spawn(ponger), 0, "127.0.0.1"))
      tell(*port);
  });
  std::vector<std::int64_t> samples;
  samples.reserve(trips);
  std::uint64_t sum = 0;
  {
    caf::actor_system system(settings);
    const auto there = system.middleman().remote_actor("127.0.0.1", server.port());
    if (!there) return out.error(system.render(there.error()));
    const std::int64_t start = now_ns();
    caf::anon_send(system.spawn(pinger, *there, trips, &samples, &sum), caf::ok_atom::value);
    system.await_all_actors_done();
    out.seconds = seconds_since(start);
  }
  out.items = trips;
  out.expect("round trips", trips, samples.size());
  out.expect("sum of the answers", trips * (trips + 1) / 2, sum);
  out.latencies(std::move(samples));
}
