// A loop: unfinished tuples run through the stages again.
#include <garrick/patterns/patterns.hpp>

#include <cmath>
#include <cstdio>

using namespace garrick;
using namespace garrick::patterns;

// [loop]
struct guess {
  double of;
  double root;
  int rounds;
};

guess better(guess g) {  // Newton's method for a square root
  return {g.of, (g.root + g.of / g.root) / 2, g.rounds + 1};
}
bool far_off(const guess& g) { return std::abs(g.root * g.root - g.of) > 1e-9 * g.of; }
// [/loop]

int main() {
  actor_system system;
  // [run]
  const auto stream = spawn(
      system, pipeline(
                  counting(1, 1001), [](int n) { return guess{double(n), double(n), 0}; },
                  feedback(farm(better).replicas(2), far_off),
                  fold(0, [](int most, guess g) { return g.rounds > most ? g.rounds : most; })));
  std::printf("the slowest of 1000 roots took %d rounds\n",
              system.request(stream, join{}).get().value());
  // [/run]
}
