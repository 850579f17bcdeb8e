// One loop over a map of open windows: each event goes into each of its windows, and those behind
// the watermark are put out and forgotten.
#include <unordered_map>

#include "streams/common/stretch.hpp"
#include "streams/windows/events.hpp"

void bench::run(arguments& args, result& out) {
  const window_job job(args);
  args.reject_unknown();
  windows_seen found;
  const stretch all;
  std::map<std::int64_t, std::unordered_map<std::uint64_t, std::uint64_t>> open;
  const auto put_out = [&](auto at) {
    for (const auto& [key, n] : at->second) found.add(key, at->first, n);
    return open.erase(at);
  };
  std::int64_t latest = 0;
  for (std::uint64_t i = 0; i < job.events; ++i) {
    const timed_event e = event_number(i, job.keys);
    for (std::int64_t b = job.first_begin(e.at); b <= e.at; b += job.slide) ++open[b][e.key];
    latest = e.at > latest ? e.at : latest;
    for (auto at = open.begin(); at != open.end() && at->first + job.length <= latest - disorder;)
      at = put_out(at);
  }
  for (auto at = open.begin(); at != open.end();) at = put_out(at);
  all.into(out, job.events);
  job.check(out, found);
}
