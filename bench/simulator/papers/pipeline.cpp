
#include <numeric>

#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

/// Hands the message on; the last one notes when it came. A message's value is its number.
struct stage final : model_actor {
  stage* next = nullptr;
  std::vector<double> arrived_ns;
  void on(turn& t, const message& m) override {
    if (next != nullptr) return t.send(*next, m.value);
    arrived_ns[m.value] = t.now_ns();
  }
};

}  // namespace

double pipeline_outcome::mean_us() const noexcept {
  return latency_us.empty() ? 0
                            : std::accumulate(latency_us.begin(), latency_us.end(), 0.0) /
                                  static_cast<double>(latency_us.size());
}

pipeline_outcome run(const pipeline& program, simulation_options on) {
  simulation s(std::move(on));
  stage& last = s.spawn<stage>();
  last.arrived_ns.resize(program.messages);
  stage* first = &last;
  for (std::uint32_t i = 1; i < program.actors; ++i) {
    auto& made = s.spawn<stage>();
    made.next = first;
    first = &made;
  }
  std::vector<double> sent_ns(program.messages);
  s.outside([&](outside& o) {
    for (std::uint32_t i = 0; i < program.messages; ++i) {
      o.sleep_until((i + 1) * 1e9 / program.rate);
      sent_ns[i] = o.now_ns();
      o.send(*first, i);
    }
  });
  pipeline_outcome result;
  static_cast<outcome&>(result) = s.run();
  for (std::uint32_t i = program.not_counted; i < program.messages; ++i) {
    const double us = (last.arrived_ns[i] - sent_ns[i]) / 1000;
    if (us <= 0 && result.error.empty()) result.error = "a message is missing";
    result.latency_us.push_back(us);
  }
  return result;
}

}  // namespace bench::simulator
