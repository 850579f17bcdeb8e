#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

struct receiver final : model_actor {
  std::uint64_t received = 0;
  void on(turn&, const message&) override { ++received; }
};

struct sender final : model_actor {
  receiver* whom = nullptr;
  void on(turn& t, const message& m) override {
    for (std::uint64_t i = 0; i < m.value; ++i) t.send(*whom, i);
  }
};

}  // namespace

outcome run(const mailbox_n1& program, simulation_options on) {
  simulation s(std::move(on));
  auto& whom = s.spawn<receiver>();
  std::vector<sender*> senders;
  for (std::uint32_t i = 0; i < program.senders; ++i) {
    senders.push_back(&s.spawn<sender>());
    senders.back()->whom = &whom;
  }
  s.outside([&](outside& o) {
    for (sender* one : senders) o.send(*one, program.messages);
  });
  outcome result = s.run();
  if (result.error.empty() && whom.received != std::uint64_t{program.senders} * program.messages)
    result.error = "messages are missing";
  return result;
}

}  // namespace bench::simulator
