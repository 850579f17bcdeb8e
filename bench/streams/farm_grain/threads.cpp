// A thread for each worker, with a ring to it and one from it; a thread hands the elements out in
// turn, and the main thread takes the results. `--ring n`: elements of a batch.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/farm_grain/work.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t elements = args.number("elements", 50'000);
  const std::uint64_t steps = args.number("steps", 4000);
  const std::size_t replicas = args.count("replicas", 2);
  const std::size_t batch = args.count("ring", 64);

  seen_elements found;
  const stretch all;
  {
    std::vector<std::unique_ptr<batched_ring<element>>> to;
    std::vector<std::unique_ptr<batched_ring<element>>> from;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < replicas; ++i) {
      to.push_back(std::make_unique<batched_ring<element>>(batch));
      from.push_back(std::make_unique<batched_ring<element>>(batch));
      threads.emplace_back([&in = *to.back(), &done = *from.back(), steps] {
        drain(in, [&](const element& e) { done.push(worked_on(e, steps)); }, [&] { done.flush(); });
        done.close();
      });
    }
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < elements; ++i) to[i % replicas]->push(element{i});
      for (const auto& r : to) r->close();
    });
    drain_all(from, [&](const element& e) { found.add(e); });
    for (std::thread& t : threads) t.join();
  }
  all.into(out, elements);
  found.check(out, elements, steps);
}
