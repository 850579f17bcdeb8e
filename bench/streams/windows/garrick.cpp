// Windows by the events' times, in a stream of three stages.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/windows/events.hpp"

namespace {

using bench::timed_event;

struct source {
  std::uint64_t next, end, keys;
  bool operator()(garrick::patterns::emit<timed_event> out) {
    if (next == end) return false;
    out(bench::event_number(next++, keys));
    return true;
  }
};

std::uint64_t one_more(std::uint64_t n, timed_event) { return n + 1; }
std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a + b; }

using counted = garrick::patterns::windowed<std::uint64_t, std::uint64_t, std::int64_t>;

}  // namespace

void bench::run(arguments& args, result& out) {
  using namespace garrick::patterns;
  const window_job job(args);
  const std::size_t replicas = args.count("replicas", 1);
  windows_seen found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto windows = window(sliding(job.length, job.slide))
                             .by(&timed_event::key)
                             .event_time(&timed_event::at, out_of_order(disorder))
                             .replicas(replicas)
                             .fold(std::uint64_t{0}, one_more, both);
    const auto sum = fold(windows_seen(), [](windows_seen seen, counted w) {
      seen.add(w.key, w.begin, w.value);
      return seen;
    });
    const auto h = spawn(system, pipeline(seq(source{0, job.events, job.keys}), windows, sum));
    found = system.request(h, join{}).get().value();
  });
  all.into(out, job.events, seconds);
  job.check(out, found);
}
