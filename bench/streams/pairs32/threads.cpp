// Many pairs of threads, each with a ring. `--pairs n`; `--ring n`: tuples of a batch.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t pairs = args.count("pairs", 32);
  const std::uint64_t each = args.number("tuples", 64'000'000) / pairs;
  const std::size_t batch = args.count("ring", 256);

  std::vector<seen24> found(pairs);
  const stretch all;
  {
    std::vector<std::unique_ptr<batched_ring<tuple24>>> rings;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < pairs; ++i) {
      rings.push_back(std::make_unique<batched_ring<tuple24>>(batch));
      threads.emplace_back([&ring = *rings.back(), each] {
        for (std::uint64_t n = 0; n < each; ++n) ring.push(tuple_number(n));
        ring.close();
      });
      threads.emplace_back([&ring = *rings.back(), &result = found[i]] {
        seen24 seen;
        drain(ring, [&](const tuple24& t) { seen.add(t); }, [] {});
        result = seen;
      });
    }
    for (std::thread& t : threads) t.join();
  }
  all.into(out, pairs * each);
  for (const seen24& f : found) f.check(out, each);
}
