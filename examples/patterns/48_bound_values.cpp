// Functions that need more values than their tuple: the values are bound to them.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [functions]
struct reading {
  std::string where;
  double celsius;
};

bool above(double limit, const reading& r) { return r.celsius > limit; }
std::string numbered(int& number, reading r) {  // counts in the bound value
  return std::to_string(++number) + ". " + r.where;
}
// [/functions]

int main() {
  const std::vector<reading> readings{
      {"kitchen", 24.5}, {"attic", 31}, {"cellar", 12}, {"oven", 180}, {"bath", 30.5}};
  actor_system system;
  // [run]
  const double limit = 30;
  const auto stream =
      spawn(system, pipeline(from(readings), filter(patterns::bind(above, limit)),
                             patterns::bind(numbered, 0),
                             for_each([](std::string line) { std::puts(line.c_str()); })));
  system.request(stream, join{}).get().value();
  // [/run]
}
