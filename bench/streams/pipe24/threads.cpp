// A thread each for source, forwarder and sink, and two rings. `--ring n`: tuples of a batch.
// With `--rate n` the source puts out n tuples a second, and shows each at once.
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 50'000'000);
  const std::size_t batch = args.count("ring", 256);
  const std::uint64_t rate = args.number("rate", 0);

  seen24 found;
  timed24 timed;
  const stretch all;
  {
    batched_ring<tuple24> first(batch);
    batched_ring<tuple24> second(batch);
    std::thread source([&] {
      if (rate == 0) {
        for (std::uint64_t i = 0; i < tuples; ++i) first.push(tuple_number(i));
      } else {
        pace schedule(rate);
        for (std::uint64_t i = 0; i < tuples; ++i) {
          first.push(tuple_on_time(i, schedule));
          first.flush();
        }
      }
      first.close();
    });
    std::thread forwarder([&] {
      drain(first, [&](const tuple24& t) { second.push(t); }, [&] { second.flush(); });
      second.close();
    });
    std::thread sink([&] {
      if (rate != 0) return drain(second, [&](const tuple24& t) { timed.add(t); }, [] {});
      seen24 seen;
      drain(second, [&](const tuple24& t) { seen.add(t); }, [] {});
      found = seen;
    });
    source.join();
    forwarder.join();
    sink.join();
  }
  all.into(out, tuples);
  rate == 0 ? found.check(out, tuples) : timed.check(out, tuples);
}
