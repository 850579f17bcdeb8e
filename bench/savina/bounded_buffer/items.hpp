// The work of workload `savina_bounded_buffer` and its expected result.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench::savina {

struct buffer_rules {
  std::uint64_t buffer = 50;
  std::uint64_t producers = 40;
  std::uint64_t consumers = 40;
  std::uint64_t items = 1000;  // of each producer
  std::uint32_t produce = 25;  // cost of an item, in hundreds of logarithms
  std::uint32_t consume = 25;  // the same
};

inline buffer_rules read_rules(arguments& args) {
  buffer_rules rules;
  rules.buffer = args.number("buffer", rules.buffer);
  rules.producers = args.number("producers", rules.producers);
  rules.consumers = args.number("consumers", rules.consumers);
  rules.items = args.number("items", rules.items);
  rules.produce = static_cast<std::uint32_t>(args.number("produce", rules.produce));
  rules.consume = static_cast<std::uint32_t>(args.number("consume", rules.consume));
  return rules;
}

// Not inlined, so that every system runs the same instructions.
[[gnu::noinline]] inline double process_item(double item, std::uint32_t cost) {
  random_numbers random(cost);
  for (std::uint32_t i = 0; i < 100 * cost; ++i) item += std::log(random.real() + 0.01);
  return item;
}

// The counts of the manager.
struct buffer_outcome {
  std::uint64_t produced = 0;
  std::uint64_t consumed = 0;
  std::uint64_t most_waiting = 0;
  double sum = 0;  // of all items
};

inline void check_buffer(result& out, const buffer_rules& rules, const buffer_outcome& found) {
  double item = 0;
  double sum = 0;
  for (std::uint64_t i = 0; i < rules.items; ++i) {
    item = process_item(item, rules.produce);
    sum += item;
  }
  sum *= static_cast<double>(rules.producers);
  out.expect("items produced", rules.producers * rules.items, found.produced);
  out.expect("items consumed", rules.producers * rules.items, found.consumed);
  out.expect("items beyond the buffer", 0,
             found.most_waiting > rules.buffer ? found.most_waiting - rules.buffer : 0);
  // The order of addition differs from run to run: a millionth part must agree.
  out.expect("sum of the items, in millionths", 1'000'000,
             static_cast<std::uint64_t>(std::llround(found.sum / sum * 1e6)));
}

}  // namespace bench::savina
