// The gain of the pattern: a map changes the vector where it lies, without a copy.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/common/increment.hpp"

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  run_system(args, [&](garrick::actor_system& system) {
    const auto raise =
        spawn(system, garrick::patterns::map([](std::uint32_t& x) { x = changed(x); }));
    all.measure([&] { v = system.request(raise, std::move(v)).get().value(); });
  });
  all.check(out, v);
}
