// The same without an accelerator: a heavy actor computes by itself.
#include "common/garrick_system.hpp"
#include "data_parallel/accelerator_chains/chains.hpp"

namespace {

using bench::parcel;
using parcels = garrick::protocol<void(parcel)>;
using next_ref = garrick::ref<parcels>;

class collector : public garrick::actor<parcels> {
 public:
  explicit collector(bench::chains_run* run) : run_(run) {}
  void on(const parcel& p) { run_->arrived(p); }

 private:
  bench::chains_run* run_;
};

class forwarder : public garrick::actor<parcels> {
 public:
  explicit forwarder(next_ref next) : next_(std::move(next)) {}
  void on(parcel p) { send(next_, std::move(p)); }

 private:
  next_ref next_;
};

class heavy : public garrick::actor<parcels> {
 public:
  heavy(std::uint64_t steps, next_ref next) : steps_(steps), next_(std::move(next)) {}
  void on(parcel p) {
    for (std::uint64_t& x : p.elements) x = bench::worked_on(x, steps_);
    send(next_, std::move(p));
  }

 private:
  std::uint64_t steps_;
  next_ref next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  chains_run chains(args);
  run_system(args, [&](garrick::actor_system& system) {
    {
      const next_ref last = system.spawn<collector>(garrick::lent(&chains));
      std::vector<next_ref> first;
      for (std::uint32_t c = 0; c < chains.chains; ++c) {
        next_ref next = last;
        for (std::uint32_t i = chains.actors; i > 0; --i)
          next = i != 4 ? next_ref(system.spawn<forwarder>(next))
                        : next_ref(system.spawn<heavy>(chains.steps, next));
        first.push_back(next);
      }
      chains.run([&](std::size_t chain, parcel p) { send(first[chain], std::move(p)); });
    }
    static_cast<void>(system.await_all());
  });
  chains.report(out);
}
