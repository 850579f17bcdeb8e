// each: fold key time units clock step merge whole copies replicas late counted never_late number_late
// each: narrow_step narrow_merge owned
// expect: garrick:
// expect: not_all_is_said<|no_key_for_windows<|no_event_time<|units_differ<|clock_has_no_ticks<|window_fold_does_not_fit<|window_is_put_together<|window_function_does_not_fit<|window_copies_tuples<|replicas_need_a_key<|receiver_does_not_understand<|windows_have_no_times<|no_tuple_is_late<|cannot_be_in_a_tuple<
// The parts of a window that do not fit: its key, times, functions, and receiver of late tuples.
#include <garrick/patterns/patterns.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

struct odd_key {};
struct reading {
  int sensor;
  odd_key odd;
  std::string text;
  std::chrono::seconds at;
  long tick;
};
int step(int n, reading) { return n; }
int merge(int n, int m) { return n + m; }
int size(std::span<const reading> all) { return static_cast<int>(all.size()); }
int owners(std::span<const std::unique_ptr<int>>) { return 1; }
int twice(int x) { return 2 * x; }
const int* place(const reading&) { return nullptr; }

void test(ref<protocol<void(std::string)>> texts, ref<protocol<void(reading)>> readings) {
  static_cast<void>(texts);
#ifdef GARRICK_WITHOUT_fold
  static_cast<void>(pipeline(from(std::vector<reading>()), window(tumbling(3s))));
#elif defined(GARRICK_WITHOUT_narrow_step)
  static_cast<void>(window(tuples(3)).fold(0L, step));
#elif defined(GARRICK_WITHOUT_narrow_merge)
  static_cast<void>(window(sessions(3s))
                        .event_time(&reading::at)
                        .fold(0L, [](long n, reading) { return n; }, merge));
#elif defined(GARRICK_WITHOUT_key)
  static_cast<void>(window(tuples(3)).by(&reading::odd).fold(0, step));
#elif defined(GARRICK_WITHOUT_time)
  static_cast<void>(window(tumbling(3s)).event_time(&reading::text).fold(0, step));
#elif defined(GARRICK_WITHOUT_units)
  static_cast<void>(window(tumbling(3s)).event_time(&reading::tick).fold(0, step));
#elif defined(GARRICK_WITHOUT_clock)
  static_cast<void>(window(tumbling(3)).fold(0, step));
#elif defined(GARRICK_WITHOUT_step)
  static_cast<void>(pipeline(window(tumbling(3s)).fold(0, twice), discard<int>()));
#elif defined(GARRICK_WITHOUT_merge)
  static_cast<void>(window(sessions(3s)).event_time(&reading::at).fold(0, step));
#elif defined(GARRICK_WITHOUT_whole)
  static_cast<void>(window(tumbling(3s)).all(twice));
#elif defined(GARRICK_WITHOUT_copies)
  static_cast<void>(window(sliding(3s, 1s)).all(owners));
#elif defined(GARRICK_WITHOUT_replicas)
  static_cast<void>(window(tuples(3)).replicas(2).fold(0, step));
#elif defined(GARRICK_WITHOUT_late)
  static_cast<void>(window(tumbling(3s)).event_time(&reading::at).late_to(texts).fold(0, step));
#elif defined(GARRICK_WITHOUT_counted)
  static_cast<void>(window(tuples(3)).event_time(&reading::at).idle_after(1s).fold(0, step));
#elif defined(GARRICK_WITHOUT_never_late)
  static_cast<void>(window(tumbling(3s)).late_to(readings).fold(0, step));
#elif defined(GARRICK_WITHOUT_number_late)
  static_cast<void>(window(tuples(3)).late_to(readings).fold(0, step));
#elif defined(GARRICK_WITHOUT_owned)
  static_cast<void>(window(tumbling(3s)).by(place).fold(0, step));
#else
  static_cast<void>(window(tuples(3)).by(&reading::sensor).replicas(2).fold(0, step));
  static_cast<void>(window(tumbling(3)).event_time(&reading::tick).all(size));
  static_cast<void>(window(tumbling(3s)).all(owners));
  static_cast<void>(window(sessions(3s))
                        .event_time(&reading::at, out_of_order(1s))
                        .late_to(readings)
                        .fold(0, step, merge));
#endif
}
