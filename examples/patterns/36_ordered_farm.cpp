// An ordered farm: replicas work side by side, and the results leave in the order of the tuples.
#include <garrick/patterns/patterns.hpp>

#include <cstdint>
#include <cstdio>

using namespace garrick;
using namespace garrick::patterns;

// Counts the steps from n to 1: a step halves an even number, and triples an odd one and adds one.
struct steps {
  std::uint64_t from;
  int count;
};
steps collatz(std::uint64_t n) {
  int count = 0;
  for (std::uint64_t x = n; x != 1; ++count) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  return {n, count};
}

int main() {
  actor_system system;
  // [ordered]
  int longest = 0;
  const auto show_records = [&longest](steps s) {
    if (s.count <= longest) return;
    longest = s.count;
    std::printf("%llu takes %d steps\n", static_cast<unsigned long long>(s.from), s.count);
  };
  const auto stream =
      spawn(system, pipeline(counting<std::uint64_t>(1, 100'000),
                             farm(collatz).replicas(4).ordered(), for_each(lent(show_records))));
  system.request(stream, join{}).get().value();
  // [/ordered]
}
