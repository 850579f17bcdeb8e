// A chain of 64 threads, or with `--short 1` of two, and rings between them. `--ring n`: tuples of
// a batch.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t hops = args.number("short", 0, 0, 1) != 0 ? 1 : 63;
  const std::uint64_t tuples = args.number("hops", 63'000'000) / hops;
  const std::size_t batch = args.count("ring", 256);

  seen24 found;
  const stretch all;
  {
    std::vector<std::unique_ptr<batched_ring<tuple24>>> rings;
    for (std::uint64_t i = 0; i < hops; ++i)
      rings.push_back(std::make_unique<batched_ring<tuple24>>(batch));
    std::vector<std::thread> threads;
    threads.emplace_back([&ring = *rings.front(), tuples] {
      for (std::uint64_t n = 0; n < tuples; ++n) ring.push(tuple_number(n));
      ring.close();
    });
    for (std::uint64_t i = 1; i < hops; ++i)
      threads.emplace_back([&from = *rings[i - 1], &to = *rings[i]] {
        drain(from, [&](const tuple24& t) { to.push(t); }, [&] { to.flush(); });
        to.close();
      });
    seen24 seen;
    drain(*rings.back(), [&](const tuple24& t) { seen.add(t); }, [] {});
    found = seen;
    for (std::thread& t : threads) t.join();
  }
  all.into(out, tuples * hops);
  found.check(out, tuples);
}
