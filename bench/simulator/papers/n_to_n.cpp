#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

enum : std::uint64_t { ping = 1, pong };

struct player final : model_actor {
  const std::vector<player*>* all = nullptr;
  std::uint32_t left = 0;
  std::uint64_t answered = 0;

  void on(turn& t, const message& m) override {
    if (m.value == ping) return t.send(*m.from, pong);
    if (m.value == pong) ++answered;
    if (left == 0) return;
    --left;
    t.send(*(*all)[t.random().below(static_cast<std::uint32_t>(all->size()))], ping);
  }
};

}  // namespace

outcome run(const n_to_n& program, simulation_options on) {
  simulation s(std::move(on));
  std::vector<player*> all;
  for (std::uint32_t i = 0; i < program.actors; ++i) {
    all.push_back(&s.spawn<player>());
    all.back()->all = &all;
    all.back()->left = program.pings;
  }
  s.outside([&](outside& o) {
    for (player* p : all) o.send(*p, 0);
  });
  outcome result = s.run();
  for (const player* p : all)
    if (result.error.empty() && p->answered != program.pings) result.error = "answers are missing";
  return result;
}

}  // namespace bench::simulator
