// Savina 11: philosophers ask an arbitrator for both forks. It grants or refuses; a refused
// philosopher asks again at once.
#include "common/garrick_system.hpp"

namespace {

using garrick::ref;

struct hungry {
  std::size_t seat;
};
struct full {
  std::size_t seat;
};
using arbitrating = garrick::protocol<bool(hungry), void(full)>;

// Written by the arbitrator alone.
struct tally {
  std::uint64_t meals = 0;
  std::uint64_t stolen_forks = 0;  // given back, but free already
};

class arbitrator : public garrick::actor<arbitrating> {
 public:
  arbitrator(std::size_t seats, tally* seen) : taken_(seats), seen_(seen) {}

  bool on(hungry h) {
    const std::size_t right = (h.seat + 1) % taken_.size();
    if (taken_[h.seat] || taken_[right]) return false;
    taken_[h.seat] = taken_[right] = true;
    return true;
  }
  void on(full f) {
    ++seen_->meals;
    for (const std::size_t fork : {f.seat, (f.seat + 1) % taken_.size()}) {
      if (!taken_[fork]) ++seen_->stolen_forks;
      taken_[fork] = false;
    }
  }

 private:
  std::vector<bool> taken_;
  tally* seen_;
};

struct sit_down {};

class philosopher : public garrick::actor<garrick::protocol<void(sit_down)>> {
 public:
  philosopher(ref<arbitrating> forks, std::size_t seat, std::uint64_t meals, std::uint64_t* eaten)
      : forks_(std::move(forks)), seat_(seat), left_(meals), eaten_(eaten) {}

  void on(sit_down) { ask(); }

 private:
  void ask() {
    request(forks_, hungry{seat_}).then([this](bool granted) {
      if (granted) eat();
      if (left_ != 0) ask();
    });
  }
  void eat() {
    ++*eaten_;
    --left_;
    send(forks_, full{seat_});
  }

  ref<arbitrating> forks_;
  std::size_t seat_;
  std::uint64_t left_;
  std::uint64_t* eaten_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t philosophers = args.number("philosophers", 20);
  const std::uint64_t meals = args.number("meals", 10'000);

  tally seen;
  std::vector<std::uint64_t> eaten(philosophers);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const ref<arbitrating> forks = system.spawn<arbitrator>(philosophers, garrick::lent(&seen));
      for (std::size_t i = 0; i < philosophers; ++i)
        send(system.spawn<philosopher>(forks, i, meals, garrick::lent(&eaten[i])), sit_down{});
    }
    static_cast<void>(system.await_all());
  });
  out.items = philosophers * meals;
  for (const std::uint64_t count : eaten) out.expect("meals of a philosopher", meals, count);
  out.expect("meals", philosophers * meals, seen.meals);
  out.expect("stolen forks", 0, seen.stolen_forks);
}
