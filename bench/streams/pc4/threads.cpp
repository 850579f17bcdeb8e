// A thread each for producer and consumer, and a ring. `--ring n`: messages of a batch.
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pc4/number.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 100'000'000);
  const std::size_t batch = args.count("ring", 256);

  seen4 found;
  const stretch all;
  {
    batched_ring<std::uint32_t> ring(batch);
    std::thread producer([&] {
      for (std::uint64_t i = 0; i < messages; ++i) ring.push(static_cast<std::uint32_t>(i));
      ring.close();
    });
    std::thread consumer([&] {
      seen4 seen;
      drain(ring, [&](std::uint32_t n) { seen.add(n); }, [] {});
      found = seen;
    });
    producer.join();
    consumer.join();
  }
  all.into(out, messages);
  found.check(out, messages);
}
