
#include <algorithm>
#include <numeric>
#include <string>

#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

/// Hands the message on; the last one notes when it came. A message's value is its number.
struct stage final : model_actor {
  stage* next = nullptr;
  std::uint32_t number = 0;
  event_log* log = nullptr;
  std::vector<double> arrived_ns;
  void on(turn& t, const message& m) override {
    if (log != nullptr && log->wants(t.now_ns()))
      log->note("actor " + std::to_string(number) + " handles message " + std::to_string(m.value));
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

double pipeline_outcome::percentile_us(double q) const {
  if (latency_us.empty()) return 0;
  std::vector<double> sorted = latency_us;
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(rank, sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

pipeline_outcome run(const pipeline& program, simulation_options on) {
  simulation s(std::move(on));
  stage& last = s.spawn<stage>();
  last.arrived_ns.resize(program.messages);
  last.number = program.actors;
  last.log = program.log;
  stage* first = &last;
  for (std::uint32_t i = 1; i < program.actors; ++i) {
    auto& made = s.spawn<stage>();
    made.next = first;
    made.number = program.actors - i;
    made.log = program.log;
    first = &made;
  }
  std::vector<double> sent_ns(program.messages);
  s.outside(
      [&](outside& o) {
        for (std::uint32_t i = 0; i < program.messages; ++i) {
          const double due = (i + 1) * 1e9 / program.rate;
          o.sleep_until(std::max(0.0, due - program.spin_ns));
          o.spin_until(due);
          sent_ns[i] = o.now_ns();
          o.send(*first, i);
        }
      },
      {.name = "generator", .apart = program.generator_apart});
  for (const foreign_thread& neighbour : program.foreign) s.foreign(neighbour);
  if (program.log != nullptr) program.log->follow(s);
  pipeline_outcome result;
  static_cast<outcome&>(result) = s.run();
  for (std::uint32_t i = program.not_counted; i < program.messages; ++i) {
    const double us = (last.arrived_ns[i] - sent_ns[i]) / 1000;
    if (us <= 0 && result.error.empty()) result.error = "a message is missing";
    result.latency_us.push_back(us);
    result.sent_us.push_back(sent_ns[i] / 1000);
  }
  return result;
}

pipeline shared_pipeline(std::uint32_t actors, double rate, std::uint32_t ms) {
  constexpr double spin_ns = 70'000;  // bench/latency/pipeline/pipeline.hpp
  const auto messages = std::max(static_cast<std::uint32_t>(rate * ms / 1000), 2U);
  return {.actors = actors,
          .rate = rate,
          .messages = messages,
          .not_counted = messages / 5,
          .spin_ns = spin_ns};
}

}  // namespace bench::simulator
