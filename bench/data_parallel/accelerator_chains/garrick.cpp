// The heavy actors share an accelerator. `--own_maps 1`: each has a map of its own. `--own_threads
// 1`: the accelerator's team has threads of its own. `--apart 1`: and these have all processors but
// the first, on which the workers are.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/accelerator/placed.hpp"
#include "data_parallel/accelerator_chains/chains.hpp"

namespace {

using namespace garrick::patterns;
using bench::parcel;
using bench::row;
using parcels = garrick::protocol<void(parcel)>;
using next_ref = garrick::ref<parcels>;

void change(std::uint64_t steps, std::uint64_t& x) { x = bench::worked_on(x, steps); }

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

// Lets a map of its own, or an accelerator, do its work.
template <class Helper>
class heavy : public garrick::actor<parcels> {
 public:
  heavy(Helper helper, std::uint64_t steps, next_ref next)
      : helper_(std::move(helper)), steps_(steps), next_(std::move(next)) {}
  void on(parcel p) {
    const auto pass_on = [this, sent = p.sent](row r) { send(next_, parcel{sent, std::move(r)}); };
    if constexpr (std::is_same_v<Helper, accelerator>)
      request(helper_, garrick::patterns::bind(&change, steps_), std::move(p.elements))
          .then(pass_on);
    else
      request(helper_, std::move(p.elements)).then(pass_on);
  }

 private:
  Helper helper_;
  std::uint64_t steps_;
  next_ref next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  chains_run chains(args);
  const std::size_t replicas = args.count("replicas", 2);
  const bool own_maps = args.number("own_maps", 0, 0, 1) != 0;
  const bool own_threads = args.number("own_threads", 0, 0, 1) != 0;
  const bool separate = args.number("apart", 0, 0, 1) != 0;
  garrick::settings settings = garrick_settings(args);
  args.reject_unknown();
  accelerator_team team = accelerator_team().replicas(replicas);
  if (own_threads) team = team.own_threads();
  if (separate) {
    const placed where = apart();
    settings.scheduler.affinity = where.workers;
    team = team.own_threads(where.team);
  }

  garrick::actor_system system(settings);
  {
    const accelerator acc = spawn(system, team);
    const auto of_one = map(garrick::patterns::bind(&change, chains.steps)).replicas(replicas);
    const next_ref last = system.spawn<collector>(garrick::lent(&chains));
    std::vector<next_ref> first;
    for (std::uint32_t c = 0; c < chains.chains; ++c) {
      next_ref next = last;
      for (std::uint32_t i = chains.actors; i > 0; --i) {
        if (i != 4)
          next = system.spawn<forwarder>(next);
        else if (own_maps)
          next = system.spawn<heavy<data_ref<row>>>(spawn(system, of_one), chains.steps, next);
        else
          next = system.spawn<heavy<accelerator>>(acc, chains.steps, next);
      }
      first.push_back(next);
    }
    chains.run([&](std::size_t chain, parcel p) { send(first[chain], std::move(p)); });
  }
  static_cast<void>(system.await_all());
  chains.report(out);
}
