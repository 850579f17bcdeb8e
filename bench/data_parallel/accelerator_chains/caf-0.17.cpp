// The same in CAF: a heavy actor computes by itself or, with `--replicas`, shares an accelerator of
// this many detached workers, as in the thesis.
#include "data_parallel/accelerator/caf_map.hpp"
#include "data_parallel/accelerator_chains/chains.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::parcel)

namespace {

using bench::parcel;
using bench::row;

caf::behavior collector(caf::event_based_actor*, bench::chains_run* run) {
  return {
      [=](const parcel& p) { run->arrived(p); },
  };
}

caf::behavior forwarder(caf::event_based_actor* self, const caf::actor& next) {
  return {
      [=](parcel& p) { self->send(next, std::move(p)); },
  };
}

caf::behavior heavy(caf::event_based_actor* self, std::uint64_t steps, const caf::actor& next) {
  return {
      [=](parcel& p) {
        for (std::uint64_t& x : p.elements) x = bench::worked_on(x, steps);
        self->send(next, std::move(p));
      },
  };
}

caf::behavior offloading(caf::event_based_actor* self, const caf::actor& acc,
                         const caf::actor& next) {
  return {
      [=](parcel& p) {
        const std::int64_t sent = p.sent;
        self->request(acc, caf::infinite, std::move(p.elements)).then([=](row& r) {
          self->send(next, parcel{sent, std::move(r)});
        });
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  chains_run chains(args);
  const auto replicas = static_cast<std::size_t>(args.number("replicas", 0));
  run_system(args, [&](caf::actor_system& system) {
    {
      caf::actor acc;
      if (replicas != 0) acc = system.spawn(map_accelerator, replicas, chains.steps);
      const caf::actor last = system.spawn(collector, &chains);
      std::vector<caf::actor> first;
      for (std::uint32_t c = 0; c < chains.chains; ++c) {
        caf::actor next = last;
        for (std::uint32_t i = chains.actors; i > 0; --i)
          next = i != 4           ? system.spawn(forwarder, next)
                 : acc != nullptr ? system.spawn(offloading, acc, next)
                                  : system.spawn(heavy, chains.steps, next);
        first.push_back(next);
      }
      chains.run([&](std::size_t chain, parcel p) { caf::anon_send(first[chain], std::move(p)); });
      if (acc != nullptr) caf::anon_send(acc, done_atom::value);
    }
    system.await_all_actors_done();
  });
  chains.report(out);
}
