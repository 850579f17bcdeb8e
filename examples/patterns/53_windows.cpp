// Windows of ten minutes: birds at a feeder. A camera sends its sightings when it has a connection,
// so they arrive out of order, and one of them too late.
#include <garrick/patterns/patterns.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

// [sighting]
struct sighting {
  std::string bird;
  std::chrono::minutes at;  // since sunrise
};

int one_more(int n, sighting) { return n + 1; }
int both(int n, int m) { return n + m; }

long minutes(duration t) { return static_cast<long>(t.count() / duration(1min).count()); }
// [/sighting]

// [list]
struct get_list {};

/// The receiver of late tuples.
class late_list : public actor<protocol<void(sighting), std::string(get_list)>> {
 public:
  void on(sighting s) { all_ += " " + s.bird + " at " + std::to_string(s.at.count()); }
  std::string on(get_list) { return all_; }

 private:
  std::string all_;
};
// [/list]

int main() {
  const std::vector<sighting> seen{
      {"robin", 1min}, {"tit", 3min},    {"tit", 4min},   {"robin", 12min}, {"tit", 8min},
      {"jay", 11min},  {"robin", 14min}, {"tit", 13min},  {"jay", 16min},   {"robin", 7min},
      {"tit", 19min},  {"tit", 21min},   {"jay", 18min},  {"robin", 33min}, {"tit", 29min},
      {"tit", 27min},  {"robin", 38min}, {"robin", 36min}};
  actor_system system;
  const auto list = system.spawn<late_list>();

  std::puts("minutes after sunrise:");
  // [tumbling]
  const auto by_bird = window(tumbling(10min))
                           .by(&sighting::bird)
                           .event_time(&sighting::at, out_of_order(5min))
                           .late_to(list)
                           .fold(0, one_more);
  const auto visits =
      spawn(system, pipeline(from(seen), by_bird, for_each([](windowed<std::string, int> w) {
                               std::printf("%2ld to %2ld: %d x %s\n", minutes(w.begin),
                                           minutes(w.end), w.value, w.key.c_str());
                             })));
  // [/tumbling]
  system.request(visits, join{}).get().value();
  // [late]
  const auto report = system.request(visits, get_report{}).get().value();
  const std::string which = system.request(list, get_list{}).get().value();
  std::printf("%llu too late:%s\n", static_cast<unsigned long long>(report.late()), which.c_str());
  // [/late]

  // [sliding]
  // windows of 20 minutes, made of pieces of ten; with 30 minutes of disorder the late robin counts
  const auto busy = window(sliding(20min, 10min))
                        .event_time(&sighting::at, out_of_order(30min))
                        .fold(0, one_more, both);
  // [/sliding]
  const auto busiest =
      spawn(system, pipeline(from(seen), busy,
                             fold(windowed<no_key, int>(),
                                  [](windowed<no_key, int> best, windowed<no_key, int> w) {
                                    return w.value > best.value ? w : best;
                                  })));
  const auto best = system.request(busiest, join{}).get().value();
  std::printf("the busiest twenty minutes: %ld to %ld, with %d birds\n", minutes(best.begin),
              minutes(best.end), best.value);
}
