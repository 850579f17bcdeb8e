// SpikeDetection with a thread for the source, each average, the detector and the sink, and rings
// between them. `--ring n`: tuples of a batch; `--replicas n`: averages. With `--rate n` the source
// puts out n readings a second, and shows each at once.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/spike_detection/readings.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);
  const std::size_t batch = args.count("ring", 256);

  const readings input = make_readings();
  seen_spikes found;
  const stretch all;
  {
    std::vector<std::unique_ptr<batched_ring<reading>>> to;
    std::vector<std::unique_ptr<batched_ring<averaged>>> from;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < replicas; ++i) {
      to.push_back(std::make_unique<batched_ring<reading>>(batch));
      from.push_back(std::make_unique<batched_ring<averaged>>(batch));
      threads.emplace_back([&in = *to.back(), &done = *from.back()] {
        moving_average averages;
        drain(in, [&](const reading& r) { done.push(averages.add(r)); }, [&] { done.flush(); });
        done.close();
      });
    }
    threads.emplace_back([&] {
      for (feed<reading> source(input, tuples, rate); !source.ended();) {
        const reading r = source.next();
        auto& next = *to[r.device % replicas];
        next.push(r);
        if (rate != 0) next.flush();
      }
      for (const auto& r : to) r->close();
    });
    batched_ring<averaged> spikes(batch);
    threads.emplace_back([&] {
      drain_all(
          from,
          [&](const averaged& a) {
            if (is_spike(a)) spikes.push(a);
          },
          [&] { spikes.flush(); });
      spikes.close();
    });
    drain(spikes, [&](const averaged& a) { found.add(a); }, [] {});
    for (std::thread& t : threads) t.join();
  }
  all.into(out, tuples);
  found.check(out, input, tuples);
}
