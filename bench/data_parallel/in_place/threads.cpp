// A loop over threads, each with its part of the vector; the main thread has one, too. They are
// started for each round, or, with `--kept 1`, once: then they wait for a round at a barrier.
#include <barrier>
#include <thread>

#include "data_parallel/common/increment.hpp"

namespace {

void change_part(bench::numbers& v, std::size_t i, std::size_t parts) {
  const std::size_t begin = bench::begin_of_part(v.size(), i, parts);
  bench::change(v.data() + begin, bench::begin_of_part(v.size(), i + 1, parts) - begin);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  const std::size_t threads = args.count("threads", 2);
  const bool kept = args.number("kept", 0, 0, 1) != 0;

  std::vector<std::thread> others;
  if (!kept) {
    all.measure([&] {
      for (std::size_t i = 1; i < threads; ++i)
        others.emplace_back([&, i] { change_part(v, i, threads); });
      change_part(v, 0, threads);
      for (std::thread& t : others) t.join();
      others.clear();
    });
  } else {
    std::barrier gate(static_cast<std::ptrdiff_t>(threads));
    bool more = true;  // written before the gate opens
    for (std::size_t i = 1; i < threads; ++i) {
      others.emplace_back([&, i] {
        for (;;) {
          gate.arrive_and_wait();
          if (!more) return;
          change_part(v, i, threads);
          gate.arrive_and_wait();
        }
      });
    }
    all.measure([&] {
      gate.arrive_and_wait();
      change_part(v, 0, threads);
      gate.arrive_and_wait();
    });
    more = false;
    gate.arrive_and_wait();
    for (std::thread& t : others) t.join();
  }
  all.check(out, v);
}
