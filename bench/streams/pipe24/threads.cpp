// A thread each for source, forwarder and sink, and two rings. `--ring n`: tuples of a batch.
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 50'000'000);
  const std::size_t batch = args.count("ring", 256);

  seen24 found;
  const stretch all;
  {
    batched_ring<tuple24> first(batch);
    batched_ring<tuple24> second(batch);
    std::thread source([&] {
      for (std::uint64_t i = 0; i < tuples; ++i) first.push(tuple_number(i));
      first.close();
    });
    std::thread forwarder([&] {
      drain(first, [&](const tuple24& t) { second.push(t); }, [&] { second.flush(); });
      second.close();
    });
    std::thread sink([&] {
      seen24 seen;
      drain(second, [&](const tuple24& t) { seen.add(t); }, [] {});
      found = seen;
    });
    source.join();
    forwarder.join();
    sink.join();
  }
  all.into(out, tuples);
  found.check(out, tuples);
}
