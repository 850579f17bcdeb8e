#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

/// A message from the parent (or from outside) says n; two from children bring their leaves.
struct node final : model_actor {
  model_actor* parent = nullptr;
  std::uint64_t sum = 0;
  std::uint32_t answers = 0;

  void on(turn& t, const message& m) override {
    if (m.from == parent) return spread(t, m.value);
    sum += m.value;
    if (++answers == 2 && parent != nullptr) t.send(*parent, sum);
  }
  void spread(turn& t, std::uint64_t n) {
    if (n == 1) {
      sum = 1;
      if (parent != nullptr) t.send(*parent, sum);
      return;
    }
    for (int i = 0; i < 2; ++i) {
      auto& child = t.spawn<node>();
      child.parent = this;
      t.send(child, n - 1);
    }
  }
};

}  // namespace

outcome run(const actor_creation& program, simulation_options on) {
  simulation s(std::move(on));
  node& root = s.spawn<node>();
  s.outside([&](outside& o) { o.send(root, program.n); });
  outcome result = s.run();
  if (result.error.empty() && root.sum != std::uint64_t{1} << (program.n - 1))
    result.error = "leaves are missing";
  return result;
}

}  // namespace bench::simulator
