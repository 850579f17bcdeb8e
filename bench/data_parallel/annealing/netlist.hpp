// Simulated annealing of a netlist: elements lie on a grid, one in each place, and wires between
// them should become short. The computation and its result are the same for every system.
//
// A step has a temperature. In it, crews swap elements: each crew has its own, and knows the places
// of the others' at the start of the step. So crews work side by side in any distribution over
// threads, and the result does not depend on it. Between two steps the crews' swaps are put
// together. It ends after a number of steps, or when no more swaps are good than bad.
//
// C++17 and the standard library only, for the peers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "streams/common/random.hpp"

namespace bench {

struct place {
  std::uint16_t x;
  std::uint16_t y;
};
inline bool operator==(place a, place b) { return a.x == b.x && a.y == b.y; }
using places = std::vector<place>;  // of the elements, by their numbers

// The connections. The wires of element e are those from first[e] to before first[e + 1]; each is
// there for both of its ends.
struct netlist {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> wires;
  std::uint32_t side;   // of the grid, a power of two
  std::uint32_t crews;  // a power of two
  std::uint32_t swaps;  // that a crew tries in a step
  std::uint32_t most_steps;
  std::uint32_t elements() const { return side * side; }
  std::uint32_t of_a_crew() const { return elements() / crews; }
};

inline netlist make_netlist(arguments& args) {
  netlist n{};
  n.side = args.count("side", 256);
  n.crews = args.count("crews", 64);
  n.swaps = args.count("swaps", 3000);
  n.most_steps = args.count("steps", 32);
  if ((n.side & (n.side - 1)) != 0 || (n.crews & (n.crews - 1)) != 0 || n.side > 4096 ||
      n.crews > n.elements() / 2)
    arguments::fail("--side and --crews are powers of two; each crew has two elements at least");

  constexpr std::uint32_t degree = 4;  // wires that an element begins
  random_stream numbers(1983);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (std::uint32_t e = 0; e < n.elements(); ++e) {
    for (std::uint32_t i = 0; i < degree; ++i) {
      // Most are to those with like numbers, so that there is something to be found.
      const std::uint64_t reach = numbers.below(8) == 0 ? n.elements() : 64;
      const auto other = static_cast<std::uint32_t>((e + 1 + numbers.below(reach)) % n.elements());
      if (other != e) all.push_back({e, other});
    }
  }
  n.first.assign(n.elements() + 1, 0);
  for (const auto& [a, b] : all) ++n.first[a + 1], ++n.first[b + 1];
  for (std::uint32_t e = 0; e < n.elements(); ++e) n.first[e + 1] += n.first[e];
  n.wires.resize(2 * all.size());
  std::vector<std::uint32_t> next = n.first;
  for (const auto& [a, b] : all) n.wires[next[a]++] = b, n.wires[next[b]++] = a;
  return n;
}

// Somewhere at random.
inline places first_places(const netlist& n) {
  places all(n.elements());
  for (std::uint32_t e = 0; e < n.elements(); ++e)
    all[e] = {static_cast<std::uint16_t>(e % n.side), static_cast<std::uint16_t>(e / n.side)};
  random_stream numbers(1984);
  for (std::uint32_t e = n.elements() - 1; e > 0; --e)
    std::swap(all[e], all[static_cast<std::uint32_t>(numbers.below(e + 1))]);
  return all;
}

// Returns the total length of the wires of element e if it were at this place.
inline std::int32_t length_of_wires(const netlist& n, const places& all, std::uint32_t e,
                                    place there) {
  std::int32_t sum = 0;
  for (std::uint32_t i = n.first[e]; i != n.first[e + 1]; ++i) {
    const place other = all[n.wires[i]];
    sum += std::abs(there.x - other.x) + std::abs(there.y - other.y);
  }
  return sum;
}

inline std::int64_t length_of_all_wires(const netlist& n, const places& all) {
  std::int64_t sum = 0;
  for (std::uint32_t e = 0; e < n.elements(); ++e) sum += length_of_wires(n, all, e, all[e]);
  return sum / 2;
}

// The progress of an annealing.
struct progress {
  std::uint32_t step = 0;
  double temperature = 0;
};

// The result of a crew in a step.
struct crew {
  std::uint32_t number = 0;
  std::uint64_t good = 0;  // swaps that made wires shorter
  std::uint64_t bad = 0;   // swaps that were done nevertheless
  places mine{};           // of its elements
};

// A crew's elements change from step to step: element i of crew c in a step.
inline std::uint32_t element_of(const netlist& n, std::uint32_t step, std::uint32_t c,
                                std::uint32_t i) {
  const std::uint32_t odd = 2 * step * 40'503 + 1;
  return ((c * n.of_a_crew() + i) * odd + step) & (n.elements() - 1);
}

inline std::vector<crew> make_crews(const netlist& n) {
  std::vector<crew> all(n.crews);
  for (std::uint32_t c = 0; c < n.crews; ++c) all[c].number = c;
  return all;
}

// A crew's part of a step. Not inlined, and aligned: the same instructions for every system.
[[gnu::noinline, gnu::aligned(64)]] inline void swap_some(const netlist& n, const places& all,
                                                          const progress& p, crew& c) {
  const std::uint32_t size = n.of_a_crew();
  c.good = c.bad = 0;
  c.mine.resize(size);
  for (std::uint32_t i = 0; i < size; ++i) c.mine[i] = all[element_of(n, p.step, c.number, i)];
  random_stream numbers((static_cast<std::uint64_t>(p.step) << 32) + c.number);
  for (std::uint32_t k = 0; k < n.swaps; ++k) {
    const auto i = static_cast<std::uint32_t>(numbers.next()) & (size - 1);
    const auto j = static_cast<std::uint32_t>(numbers.next()) & (size - 1);
    if (i == j) continue;
    const std::uint32_t a = element_of(n, p.step, c.number, i);
    const std::uint32_t b = element_of(n, p.step, c.number, j);
    const place at_a = c.mine[i], at_b = c.mine[j];
    const std::int32_t longer = length_of_wires(n, all, a, at_b) -
                                length_of_wires(n, all, a, at_a) +
                                length_of_wires(n, all, b, at_a) - length_of_wires(n, all, b, at_b);
    if (longer >= 0 && std::exp(-longer / p.temperature) <= numbers.unit()) continue;
    ++(longer < 0 ? c.good : c.bad);
    std::swap(c.mine[i], c.mine[j]);
  }
}

// The work between two steps.
class annealing {
 public:
  explicit annealing(const netlist& n) : n_(&n) {}

  progress now() const { return now_; }
  // Puts together the crews' swaps: writes each element's place into `all`. Returns false after the
  // last step.
  bool next_step(const std::vector<crew>& crews, places& all) {
    return next_step(crews, all, [](const crew& c) -> const crew& { return c; });
  }
  // The same for crews that are a part of something else, which `crew_of` gives.
  template <class Crews, class Of>
  bool next_step(const Crews& crews, places& all, Of crew_of) {
    std::uint64_t good = 0, bad = 0;
    for (const auto& some : crews) {
      const crew& c = crew_of(some);
      good += c.good;
      bad += c.bad;
      for (std::uint32_t i = 0; i < c.mine.size(); ++i)
        all[element_of(*n_, now_.step, c.number, i)] = c.mine[i];
    }
    now_.temperature /= 1.5;
    return ++now_.step < n_->most_steps && good > bad;
  }

 private:
  const netlist* n_;
  progress now_{0, 60};
};

// The sequential run.
inline std::uint32_t anneal(const netlist& n, places& all) {
  std::vector<crew> crews = make_crews(n);
  annealing a(n);
  do {
    for (crew& c : crews) swap_some(n, all, a.now(), c);
  } while (a.next_step(crews, all));
  return a.now().step;
}

// The places are those of the sequential run; no place is taken twice; the wires are shorter.
inline void check_places(result& out, const netlist& n, const places& found, std::uint32_t steps) {
  out.items = static_cast<std::uint64_t>(n.crews) * n.swaps * steps;
  places expected = first_places(n);
  const std::int64_t before = length_of_all_wires(n, expected);
  out.expect("steps", anneal(n, expected), steps);
  out.expect("elements", n.elements(), found.size());
  if (found.size() != expected.size()) return;
  std::size_t different = 0;
  std::vector<bool> taken(n.elements());
  for (std::uint32_t e = 0; e < n.elements(); ++e) {
    different += found[e] == expected[e] ? 0 : 1;
    if (found[e].x < n.side && found[e].y < n.side) taken[found[e].y * n.side + found[e].x] = true;
  }
  std::size_t free = 0;
  for (const bool t : taken) free += t ? 0 : 1;
  out.expect("places that differ from the sequential run's", 0, different);
  out.expect("free places", 0, free);
  const std::int64_t after = length_of_all_wires(n, found);
  if (after >= before) out.error("the wires have not become shorter");
  out.detail("length_percent", 100 * static_cast<double>(after) / static_cast<double>(before));
  out.detail("steps", steps);
}

}  // namespace bench
