// A join of two sources by the events' times.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/joins/sides.hpp"

namespace {

using bench::timed_event;

struct side {
  std::uint64_t next, end, keys;
  std::uint64_t which;  // 0: left, 1: right
  bool operator()(garrick::patterns::emit<timed_event> out) {
    if (next == end) return false;
    out(bench::event_number(2 * next++ + which, keys));
    return true;
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  using namespace garrick::patterns;
  const join_job job(args);
  pairs_seen found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto pairs = join_with(seq(side{0, job.events, job.keys, 1}))
                           .by(&timed_event::key, &timed_event::key)
                           .event_time(&timed_event::at, &timed_event::at, out_of_order(disorder))
                           .within(std::int64_t{0}, job.within)
                           .with(pair_of);
    const auto count = fold(pairs_seen(), [](pairs_seen s, std::uint64_t pair) {
      s.add(pair);
      return s;
    });
    const auto h = spawn(system, pipeline(seq(side{0, job.events, job.keys, 0}), pairs, count));
    found = system.request(h, join{}).get().value();
  });
  all.into(out, 2 * job.events, seconds);
  job.check(out, found);
}
