// A join that measures the distance of lightning: each flash is joined with the thunder of the same
// storm that follows within fifteen seconds.
#include <garrick/patterns/patterns.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

// [tuples]
struct flash {
  std::string storm;
  std::chrono::milliseconds at;
};
struct thunder {
  std::string storm;
  std::chrono::milliseconds at;
};

/// Sound takes three seconds for a kilometre.
std::string distance(const flash& f, const thunder& t) {
  const double km = static_cast<double>((t.at - f.at).count()) / 3000;
  char line[60];
  std::snprintf(line, sizeof line, "%s: a flash %.1f km away", f.storm.c_str(), km);
  return line;
}
// [/tuples]

int main() {
  const std::vector<flash> flashes{
      {"north", 1s}, {"west", 2s}, {"north", 30s}, {"south", 31s}};  // no thunder from the south
  const std::vector<thunder> heard{{"north", 10s},
                                   {"west", 5s},  // 5 s behind: in time, since 10 s are allowed
                                   {"north", 36s},
                                   {"west", 16s}};  // 20 s behind: too late
  actor_system system;
  // [join]
  const auto distances = join_with(from(heard))  // joins the stream's tuples with this source's
                             .by(&flash::storm, &thunder::storm)
                             .event_time(&flash::at, &thunder::at, out_of_order(10s))
                             .within(0s, 15s)  // after the flash
                             .with(distance);
  const auto stream = spawn(
      system,
      pipeline(from(flashes), distances,
               fold(std::vector<std::string>(), [](std::vector<std::string> all, std::string line) {
                 all.push_back(std::move(line));
                 return all;
               })));
  // [/join]
  auto lines = system.request(stream, join{}).get().value();
  std::sort(lines.begin(), lines.end());  // the order of pairs is not defined
  for (const std::string& line : lines) std::puts(line.c_str());
  const auto report = system.request(stream, get_report{}).get().value();
  std::printf("%llu thunder came too late\n", static_cast<unsigned long long>(report.late()));
}
