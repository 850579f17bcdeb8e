// A stage that throws: the stream fails, or drops the tuple.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [stage]
int number_in(std::string text) { return std::stoi(text); }  // throws if there is no number
// [/stage]

int main() {
  actor_system system;
  const auto texts = from(std::vector<std::string>{"1", "2", "three", "4"});
  const auto sum = fold(0, [](int all, int n) { return all + n; });
  const auto parse = seq(number_in).named("parse");

  // [fail]
  const auto strict = spawn(system, pipeline(texts, parse, sum));
  const result<int> failed = system.request(strict, join{}).get();
  std::printf("%s\n", failed.error().to_string().c_str());
  // [/fail]

  // [skip]
  const auto lenient = spawn(system, pipeline(texts, parse.on(on_failure::skip), sum));
  std::printf("the sum of the others is %d\n", system.request(lenient, join{}).get().value());
  // [/skip]
}
