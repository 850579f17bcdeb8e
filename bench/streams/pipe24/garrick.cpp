// Source, forwarder and sink as three nodes with two rings between them: fusion is off. With
// `--in_place 0` no node runs the next one, so each batch goes to another node's carrier.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

namespace {

using namespace garrick::patterns;
using bench::seen24;
using bench::tuple24;

struct source {
  std::uint64_t next;
  std::uint64_t end;
  bool operator()(emit<tuple24> out) {
    if (next == end) return false;
    out(bench::tuple_number(next++));
    return true;
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 50'000'000);
  const stream_options options{.in_place = args.number("in_place", 1, 0, 1) != 0, .fuse = false};

  const auto forward = [](tuple24 t) { return t; };
  const auto sum = fold(seen24(), [](seen24 s, tuple24 t) {
    s.add(t);
    return s;
  });
  seen24 found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h = spawn(system, pipeline(seq(source{0, tuples}), forward, sum), options);
    found = system.request(h, join{}).get().value();
  });
  all.into(out, tuples, seconds);
  found.check(out, tuples);
}
