// Savina 11: philosophers ask an arbitrator for both forks. It grants or refuses; a refused
// philosopher asks again at once.
#include "common/caf_system.hpp"

namespace {

using hungry_atom = caf::atom_constant<caf::atom("hungry")>;
using full_atom = caf::atom_constant<caf::atom("full")>;

// Written by the arbitrator alone.
struct tally {
  std::uint64_t meals = 0;
  std::uint64_t stolen_forks = 0;  // given back, but free already
};

struct table {
  std::vector<bool> taken;
};

caf::behavior arbitrator(caf::stateful_actor<table>* self, std::size_t seats, tally* seen) {
  self->state.taken.resize(seats);
  return {
      [=](hungry_atom, std::size_t seat) {
        auto& taken = self->state.taken;
        const std::size_t right = (seat + 1) % taken.size();
        if (taken[seat] || taken[right]) return false;
        taken[seat] = taken[right] = true;
        return true;
      },
      [=](full_atom, std::size_t seat) {
        auto& taken = self->state.taken;
        ++seen->meals;
        for (const std::size_t fork : {seat, (seat + 1) % taken.size()}) {
          if (!taken[fork]) ++seen->stolen_forks;
          taken[fork] = false;
        }
      },
  };
}

class philosopher : public caf::event_based_actor {
 public:
  philosopher(caf::actor_config& cfg, caf::actor forks, std::size_t seat, std::uint64_t meals,
              std::uint64_t* eaten)
      : caf::event_based_actor(cfg),
        forks_(std::move(forks)),
        seat_(seat),
        left_(meals),
        eaten_(eaten) {}

  caf::behavior make_behavior() override {
    ask();
    return {};  // an actor without a behavior lives as long as it waits for an answer
  }
  void on_exit() override { forks_ = nullptr; }

 private:
  void ask() {
    request(forks_, caf::infinite, hungry_atom::value, seat_).then([this](bool granted) {
      if (granted) eat();
      if (left_ != 0) ask();
    });
  }
  void eat() {
    ++*eaten_;
    --left_;
    send(forks_, full_atom::value, seat_);
  }

  caf::actor forks_;
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
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const auto forks = system.spawn(arbitrator, philosophers, &seen);
      for (std::size_t i = 0; i < philosophers; ++i)
        system.spawn<philosopher>(forks, i, meals, &eaten[i]);
    }
    system.await_all_actors_done();
  });
  out.items = philosophers * meals;
  for (const std::uint64_t count : eaten) out.expect("meals of a philosopher", meals, count);
  out.expect("meals", philosophers * meals, seen.meals);
  out.expect("stolen forks", 0, seen.stolen_forks);
}
