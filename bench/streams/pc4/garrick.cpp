// Producer and consumer as two nodes with a ring between them: fusion is off. With `--in_place 0`
// neither runs the other.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pc4/number.hpp"

namespace {

using namespace garrick::patterns;
using bench::seen4;

struct producer {
  std::uint64_t next;
  std::uint64_t end;
  bool operator()(emit<std::uint32_t> out) {
    if (next == end) return false;
    out(static_cast<std::uint32_t>(next++));
    return true;
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 100'000'000);
  const stream_options options{.in_place = args.number("in_place", 1, 0, 1) != 0, .fuse = false};

  const auto sum = fold(seen4(), [](seen4 s, std::uint32_t n) {
    s.add(n);
    return s;
  });
  seen4 found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h = spawn(system, pipeline(seq(producer{0, messages}), sum), options);
    found = system.request(h, join{}).get().value();
  });
  all.into(out, messages, seconds);
  found.check(out, messages);
}
