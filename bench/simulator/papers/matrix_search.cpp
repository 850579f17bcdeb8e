
#include <algorithm>
#include <cmath>

#include "simulator/papers/programs.hpp"

using namespace garrick;
using namespace garrick::machine;

namespace bench::simulator {

namespace {

/// A column's 3500 lines, 224 kB, stay in the second-level cache while 64 neighbouring columns are
/// searched: each line comes from memory once.
constexpr double cells_in_line = 64;

enum : std::uint64_t { build = 1, search };

struct controller;

struct searcher final : model_actor {
  explicit searcher(const matrix_search& p) : program(p) {}
  const matrix_search& program;
  controller* home = nullptr;
  void on(turn& t, const message& m) override;
};

struct controller final : model_actor {
  explicit controller(const matrix_search& p) : program(p) {}
  const matrix_search& program;
  std::vector<searcher*> mine;
  std::vector<std::uint32_t> left;
  std::uint32_t built = 0;
  std::uint64_t done = 0;

  void on(turn& t, const message& m) override {
    if (m.from == nullptr) {
      for (searcher* s : mine) t.send(*s, build);
      return;
    }
    if (m.value == build && program.build_first) {
      if (++built == mine.size())
        for (searcher* s : mine) hand_out(t, *s);
      return;
    }
    if (m.value == search) ++done;
    hand_out(t, *static_cast<searcher*>(m.from));
  }
  void hand_out(turn& t, searcher& s) {
    const auto index =
        static_cast<std::size_t>(std::find(mine.begin(), mine.end(), &s) - mine.begin());
    if (left[index] == 0) return;
    --left[index];
    t.send(s, search);
  }
};

void searcher::on(turn& t, const message& m) {
  double cells = program.cells;
  if (m.value == build) {
    t.work(cells * program.build_ns);
  } else {
    // The first cell where the word begins is exponentially far; mostly there is none.
    cells = std::min(cells, -std::log(1 - t.random().unit()) / program.found);
    t.work(cells * program.cell_ns);
    t.touch(cells / cells_in_line);
  }
  t.send(*home, m.value);
}

}  // namespace

outcome run(const matrix_search& program, simulation_options on) {
  simulation s(std::move(on));
  std::vector<controller*> controllers;
  for (std::uint32_t c = 0; c < program.controllers; ++c) {
    controllers.push_back(&s.spawn<controller>(program));
    for (std::uint32_t i = 0; i < program.searchers; ++i) {
      auto& one = s.spawn<searcher>(program);
      one.home = controllers.back();
      one.place.set(base::locality_hint::spread());  // the paper's: to each in turn
      controllers.back()->mine.push_back(&one);
    }
    controllers.back()->left.assign(program.searchers, program.searches);
  }
  s.outside([&](outside& o) {
    for (controller* c : controllers) o.send(*c, 0);
  });
  outcome result = s.run();
  for (const controller* c : controllers)
    if (result.error.empty() && c->done != std::uint64_t{program.searchers} * program.searches)
      result.error = "searches are missing";
  return result;
}

}  // namespace bench::simulator
