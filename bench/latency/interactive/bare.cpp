// The yardstick: one thread that sleeps on a futex and answers, beside a plain thread for each
// worker, which turns as the flood does. There are no actors; `--actors` is ignored.
#include <thread>

#include "common/futex_sleeper.hpp"
#include "latency/interactive/interactive.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t threads = args.number("threads", 2, 1, 1024);
  interactive_settings s = read_interactive(args);
  args.reject_unknown();
  if (s.slow != 0) arguments::fail("--slow: there are no long handlers without workers");
  s.actors = 1;
  if (s.flood != 0) s.flood = threads;
  interactive_run measured(s);

  std::vector<std::thread> busy;
  for (std::uint64_t i = 0; i < s.flood; ++i) {
    busy.emplace_back([&measured, i] {
      for (std::uint64_t token = i; measured.flooded(i, &token);) {}
    });
  }
  {
    std::uint64_t number = 0;
    futex_sleeper sleeper([&](std::int64_t sent) {
      const std::int64_t handled = now_ns();
      measured.answered(measured.ask(0, {number++, sent}, handled));
    });
    measured.run([&](std::uint64_t, const question& q) { sleeper.wake(q.sent); },
                 [](std::uint64_t, std::uint64_t) {});
  }
  for (std::thread& t : busy) t.join();
  measured.report(out);
}
