// One loop, which takes an event of each side in turns, looks for its partners among those of the
// other side with its key, and forgets those for which no partner can come any more.
#include <deque>
#include <unordered_map>

#include "streams/common/stretch.hpp"
#include "streams/joins/sides.hpp"

void bench::run(arguments& args, result& out) {
  const join_job job(args);
  args.reject_unknown();
  pairs_seen found;
  const stretch all;
  struct waiting {
    std::deque<timed_event> left, right;  // in the order in which they came
  };
  std::unordered_map<std::uint64_t, waiting> by_key;
  // An event so old meets no other: a right one may come 100 late, and `within` after its left.
  const std::int64_t kept = job.within + 2 * disorder;
  const auto forget = [&](std::deque<timed_event>& old, std::int64_t now) {
    while (!old.empty() && old.front().at + kept < now) old.pop_front();
  };
  for (std::uint64_t i = 0; i < job.events; ++i) {
    const timed_event l = job.left(i), r = job.right(i);
    waiting& of_left = by_key[l.key];
    forget(of_left.right, l.at);
    for (const timed_event& other : of_left.right)
      if (other.at >= l.at && other.at <= l.at + job.within) found.add(pair_of(l, other));
    of_left.left.push_back(l);
    waiting& of_right = by_key[r.key];
    forget(of_right.left, r.at);
    for (const timed_event& other : of_right.left)
      if (r.at >= other.at && r.at <= other.at + job.within) found.add(pair_of(other, r));
    of_right.right.push_back(r);
  }
  all.into(out, 2 * job.events);
  job.check(out, found);
}
