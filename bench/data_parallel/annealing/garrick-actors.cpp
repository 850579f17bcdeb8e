// Each worker actor gets its part of the crews in each step, and sends it back to a master, which
// puts together their results.
#include "common/garrick_system.hpp"
#include "data_parallel/annealing/netlist.hpp"
#include "data_parallel/common/parts.hpp"

namespace {

using garrick::actor;
using garrick::protocol;
using garrick::ref;

struct step {
  std::vector<bench::crew> crews;
  bench::progress now{};
  std::shared_ptr<const bench::places> all{};
};
struct step_done {
  std::vector<bench::crew> crews;
};
using gathering = protocol<void(step_done)>;
using swapping = protocol<void(ref<gathering>, step)>;

class worker : public actor<swapping> {
 public:
  explicit worker(std::shared_ptr<const bench::netlist> n) : netlist_(std::move(n)) {}
  void on(ref<gathering> master, step s) {
    for (bench::crew& c : s.crews) bench::swap_some(*netlist_, *s.all, s.now, c);
    send(master, step_done{std::move(s.crews)});
  }

 private:
  std::shared_ptr<const bench::netlist> netlist_;
};

class master : public actor<gathering> {
 public:
  master(std::shared_ptr<const bench::netlist> n, std::vector<ref<swapping>> workers,
         bench::annealing* a, std::shared_ptr<const bench::places>* all)
      : netlist_(std::move(n)), workers_(std::move(workers)), annealing_(a), all_(all) {}
  void on_start() { begin(bench::make_crews(*netlist_)); }
  void on(step_done d) {
    for (bench::crew& c : d.crews) done_.push_back(std::move(c));
    if (done_.size() != netlist_->crews) return;
    auto next = std::make_shared<bench::places>(netlist_->elements());
    const bool goes_on = annealing_->next_step(done_, *next);
    *all_ = std::move(next);
    if (goes_on) begin(std::exchange(done_, {}));
  }

 private:
  void begin(std::vector<bench::crew> crews) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const bench::part some = bench::part_of(crews.size(), i, workers_.size());
      step s{{}, annealing_->now(), *all_};
      for (std::size_t c = some.begin; c < some.end; ++c) s.crews.push_back(std::move(crews[c]));
      send(workers_[i], ref<gathering>(self()), std::move(s));
    }
  }

  std::shared_ptr<const bench::netlist> netlist_;
  std::vector<ref<swapping>> workers_;
  bench::annealing* annealing_;
  std::shared_ptr<const bench::places>* all_;
  std::vector<bench::crew> done_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto n = std::make_shared<const netlist>(make_netlist(args));
  const std::size_t threads = args.count("threads", 2);

  auto all = std::make_shared<const places>(first_places(*n));
  annealing a(*n);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      std::vector<ref<swapping>> workers;
      for (std::size_t i = 0; i < threads; ++i) workers.push_back(system.spawn<worker>(n));
      system.spawn<master>(n, std::move(workers), garrick::lent(&a), garrick::lent(&all));
    }
    static_cast<void>(system.await_all());
  });
  check_places(out, *n, *all, a.now().step);
}
