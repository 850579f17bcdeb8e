// The speed of the simulator: rings of actors on 64 workers.
#include <garrick/machine/simulation.hpp>

#include "common/measure.hpp"
#include "simulator/simulated.hpp"

using namespace garrick::machine;

namespace {

struct member final : model_actor {
  member* next = nullptr;
  void on(turn& t, const message& m) override {
    t.work(200);
    if (m.value != 0) t.send(*next, m.value - 1);
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  constexpr std::uint64_t rings = 256;
  constexpr std::uint64_t size = 4;
  const std::uint64_t messages = args.number("messages", 1'000'000, rings);

  const std::int64_t start = now_ns();
  simulation s(on_machine(opteron(), 64, "work_stealing"));
  std::vector<member*> all;
  for (std::uint64_t i = 0; i < rings * size; ++i) all.push_back(&s.spawn<member>());
  for (std::uint64_t i = 0; i < rings * size; ++i)
    all[i]->next = all[i % size == size - 1 ? i + 1 - size : i + 1];
  s.outside([&](outside& o) {
    for (std::uint64_t i = 0; i < rings; ++i) o.send(*all[i * size], messages / rings);
  });
  const outcome o = s.run();
  out.seconds = seconds_since(start);
  add(out, o);
  out.detail("accesses", static_cast<double>(o.machine.accesses));
  out.detail("switches", static_cast<double>(o.machine.switches));
  out.expect("messages", (messages / rings + 1) * rings, o.messages);
}
