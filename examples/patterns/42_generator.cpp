// A stage that is a coroutine: it is suspended while there is no room, and resumed later.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>

using namespace garrick;
using namespace garrick::patterns;

// [generators]
generator<int> primes() {  // a source without an end
  for (int n = 2;; ++n) {
    bool divided = false;
    for (int d = 2; d * d <= n && !divided; ++d) divided = n % d == 0;
    if (!divided) co_yield n;
  }
}

generator<int> powers(int prime) {  // many results for one tuple
  for (int p = prime; p < 1000; p *= prime) co_yield p;
}
// [/generators]

int main() {
  actor_system system;
  // [run]
  const auto stream = spawn(system, pipeline(primes, take<int>(4), powers,
                                             for_each([](int p) { std::printf("%d ", p); })));
  system.request(stream, join{}).get().value();
  // [/run]
  std::puts("");
}
