// A thread for each stage of the ring, and rings between them. The first stage takes new elements
// only while those on their way fit into the rings, so that no thread waits for ever. `--ring n`:
// elements of a batch.
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/feedback_ring/element.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t round = args.number("round", 4096);
  const std::uint64_t laps = args.number("laps", 256, 1);
  const std::uint64_t once = args.number("once", 1024);
  const std::size_t batch = args.count("ring", 256);

  seen_ring found;
  const stretch all;
  {
    batched_ring<element> to_second(batch);
    batched_ring<element> to_third(batch);
    batched_ring<element> back(batch);
    std::thread first([&] {
      const std::uint64_t end = round + once;
      const std::uint64_t credits = 8 * batch;  // half of a ring
      std::uint64_t next = 0;
      std::uint64_t inside = 0;
      std::uint64_t left = 0;
      patience idle;
      while (left < end) {
        std::size_t n = back.take([&](const element& e) {
          if (e.laps != 0) return to_second.push(first_stage(e));
          found.add(e);
          --inside;
          ++left;
        });
        for (; next < end && inside < credits; ++next, ++inside, ++n)
          to_second.push(first_stage(element_number(next, round, laps)));
        if (n != 0) {
          idle.reset();
        } else {
          to_second.flush();
          idle.wait();
        }
      }
      to_second.close();
    });
    std::thread second([&] {
      drain(
          to_second, [&](const element& e) { to_third.push(second_stage(e)); },
          [&] { to_third.flush(); });
      to_third.close();
    });
    std::thread third([&] {
      drain(to_third, [&](const element& e) { back.push(third_stage(e)); }, [&] { back.flush(); });
    });
    first.join();
    second.join();
    third.join();
  }
  all.into(out, passes(round, laps, once));
  found.check(out, round, laps, once);
}
