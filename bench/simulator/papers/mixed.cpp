#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

enum : std::uint64_t { begin = 1ULL << 40, factorise };

struct master;

struct chain_link final : model_actor {
  model_actor* next = nullptr;
  void on(turn& t, const message& m) override { t.send(*next, m.value); }
};

struct factoriser final : model_actor {
  double ns = 0;
  std::uint64_t done = 0;
  void on(turn& t, const message&) override {
    t.work(ns);
    ++done;
  }
};

struct master final : model_actor {
  const mixed* program = nullptr;
  factoriser* helper = nullptr;
  model_actor* next = nullptr;
  std::uint32_t rounds = 0;

  void on(turn& t, const message& m) override {
    if (m.value != begin && m.value != 0) return t.send(*next, m.value - 1);
    if (m.value == 0 && ++rounds == program->repetitions) return;
    t.send(*helper, factorise);
    next = this;
    for (std::uint32_t i = 1; i < program->size; ++i) {
      auto& made = t.spawn<chain_link>();
      made.next = next;
      next = &made;
    }
    t.send(*next, program->token);
  }
};

}  // namespace

outcome run(const mixed& program, simulation_options on) {
  simulation s(std::move(on));
  std::vector<master*> masters;
  for (std::uint32_t i = 0; i < program.rings; ++i) {
    masters.push_back(&s.spawn<master>());
    masters.back()->program = &program;
    masters.back()->helper = &s.spawn<factoriser>();
    masters.back()->helper->ns = program.factorise_ns;
  }
  s.outside([&](outside& o) {
    for (master* m : masters) o.send(*m, begin);
  });
  outcome result = s.run();
  for (const master* m : masters)
    if (result.error.empty() &&
        (m->rounds != program.repetitions || m->helper->done != program.repetitions))
      result.error = "rounds are missing";
  return result;
}

}  // namespace bench::simulator
