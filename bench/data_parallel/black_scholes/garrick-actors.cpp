// Each worker actor has its part of the options; a master begins the rounds, and gets the parts at
// the end.
#include "common/garrick_system.hpp"
#include "data_parallel/black_scholes/pricing.hpp"
#include "data_parallel/common/parts.hpp"

namespace {

using bench::option;
using garrick::actor;
using garrick::protocol;
using garrick::ref;

struct next_round {};
struct finish {};
struct round_done {};
struct finished {
  std::size_t number;
  std::vector<option> options;
};
using gathering = protocol<void(round_done), void(finished)>;
using work = protocol<void(ref<gathering>), void(next_round), void(finish)>;

class worker : public actor<work> {
 public:
  worker(std::size_t number, std::vector<option> options)
      : number_(number), options_(std::move(options)) {}
  void on(ref<gathering> master) {
    master_ = std::move(master);
    on(next_round{});
  }
  void on(next_round) {
    for (option& o : options_) bench::price(o);
    send(master_, round_done{});
  }
  void on(finish) { send(std::exchange(master_, {}), finished{number_, std::move(options_)}); }

 private:
  std::size_t number_;
  std::vector<option> options_;
  ref<gathering> master_;
};

class master : public actor<gathering> {
 public:
  master(std::size_t rounds, std::vector<ref<work>> workers, std::vector<option>* all)
      : rounds_left_(rounds), workers_(std::move(workers)), all_(all) {}
  void on_start() {
    for (const ref<work>& w : workers_) send(w, ref<gathering>(self()));
  }
  void on(round_done) {
    if (++done_ != workers_.size()) return;
    done_ = 0;
    const bool more = --rounds_left_ != 0;
    for (const ref<work>& w : workers_) more ? send(w, next_round{}) : send(w, finish{});
  }
  void on(finished f) {
    const std::size_t begin = bench::part_of(all_->size(), f.number, workers_.size()).begin;
    std::copy(f.options.begin(), f.options.end(),
              all_->begin() + static_cast<std::ptrdiff_t>(begin));
  }

 private:
  std::size_t rounds_left_;
  std::vector<ref<work>> workers_;
  std::vector<option>* all_;
  std::size_t done_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);
  const std::size_t threads = args.count("threads", 2);

  std::vector<option> all = make_options(options);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      std::vector<ref<work>> workers;
      for (std::size_t i = 0; i < threads; ++i) {
        const part mine = part_of(options, i, threads);
        workers.push_back(system.spawn<worker>(i, std::vector<option>(all.data() + mine.begin,  //
                                                                      all.data() + mine.end)));
      }
      system.spawn<master>(rounds, std::move(workers), garrick::lent(&all));
    }
    static_cast<void>(system.await_all());
  });
  check_prices(out, all, options, rounds);
}
