// each: window tumbling sliding within one_key idle_before idle_number disorder
// expect: garrick: window(kind)|garrick: times of windows|garrick: a join says|garrick: idle_after(time)|garrick: event_time(time
// Too few arguments of windows and joins, too many, and such of a wrong type.
#include <garrick/patterns/patterns.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace garrick::patterns;
using namespace std::chrono_literals;

struct word {
  std::string text;
  std::chrono::seconds at;
};
int sum(int x, int y) { return x + y; }
int one_more(int n, word) { return n + 1; }
std::string both(const word& a, const word& b) { return a.text + b.text; }

void test() {
  const auto joined = join_with(from(std::vector<word>()));
  static_cast<void>(joined);
#ifdef GARRICK_WITHOUT_window
  static_cast<void>(pipeline(window(10min).fold(0, one_more), discard<int>()));
#elif defined(GARRICK_WITHOUT_tumbling)
  static_cast<void>(window(tumbling(0.5)).fold(0, one_more));
#elif defined(GARRICK_WITHOUT_sliding)
  static_cast<void>(window(sliding(10min)).fold(0, one_more));
#elif defined(GARRICK_WITHOUT_within)
  static_cast<void>(
      joined.by(&word::text, &word::text).event_time(&word::at, &word::at).within(0, 15s));
#elif defined(GARRICK_WITHOUT_one_key)
  static_cast<void>(joined.by(&word::text).within(3s).with(both));
#elif defined(GARRICK_WITHOUT_idle_before)
  static_cast<void>(window(tumbling(1s)).idle_after(30s).event_time(&word::at).fold(0, one_more));
#elif defined(GARRICK_WITHOUT_idle_number)
  static_cast<void>(window(tumbling(1s)).event_time(&word::at).idle_after(30).fold(0, one_more));
#elif defined(GARRICK_WITHOUT_disorder)
  static_cast<void>(window(tumbling(1s)).event_time(&word::at, 5s).fold(0, one_more));
#else
  static_cast<void>(window(sliding(10s, 1s)).fold(0, one_more, sum));
  static_cast<void>(window(sliding(10L, 5)).event_time([](const word&) { return 1; }));
  static_cast<void>(window(tumbling(1s))
                        .event_time(&word::at, out_of_order(1min))
                        .idle_after(1min)
                        .fold(0, one_more));
  static_cast<void>(joined.by(&word::text, &word::text)
                        .event_time(&word::at, &word::at)
                        .within(0s, 1min)
                        .with(both));
  static_cast<void>(window(tuples(4)).fold(0, one_more));
#endif
}
