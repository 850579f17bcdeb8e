// WordCount with a thread for the source, the splitter, each counter and the sink, and rings
// between them. `--ring n`: tuples of a batch; `--replicas n`: counters. With `--rate n` the source
// puts out n lines a second, and shows each at once.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/word_count/words.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t lines = args.number("lines", 100'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);
  const std::size_t batch = args.count("ring", 256);

  const corpus text = make_corpus();
  seen_words found;
  const stretch all;
  {
    batched_ring<line> first(batch);
    std::vector<std::unique_ptr<batched_ring<word>>> to;
    std::vector<std::unique_ptr<batched_ring<word_so_far>>> from;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < replicas; ++i) {
      to.push_back(std::make_unique<batched_ring<word>>(batch));
      from.push_back(std::make_unique<batched_ring<word_so_far>>(batch));
      threads.emplace_back([&in = *to.back(), &done = *from.back()] {
        word_counts counts;
        drain(in, [&](const word& w) { done.push(counts.add(w)); }, [&] { done.flush(); });
        done.close();
      });
    }
    threads.emplace_back([&] {
      pace schedule(rate);
      for (std::uint64_t i = 0; i < lines; ++i) {
        const std::int64_t stamp = schedule.next();
        first.push(line{text[i % text.size()], stamp});
        if (rate != 0) first.flush();
      }
      first.close();
    });
    threads.emplace_back([&] {
      drain(
          first,
          [&](const line& l) {
            split(l.text, [&](const short_text& w) {
              const word next{w, l.stamp};
              const std::size_t which = counter_of(next, replicas);
              to[which]->push(next);
            });
          },
          [&] {
            for (const auto& r : to) r->flush();
          });
      for (const auto& r : to) r->close();
    });
    drain_all(from, [&](const word_so_far& w) { found.add(w); });
    for (std::thread& t : threads) t.join();
  }
  all.into(out, found.words);
  found.check(out, text, lines);
}
